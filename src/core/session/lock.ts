import { randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { type AskSystem, ownIdentity, processStarted } from "./process.js";
import { writeWhole } from "./whole.js";

/** Who holds a session. */
export interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly realm: string;
  readonly machine: string;
  /** What host it is: "VS Code", "ACP". */
  readonly host: string;
  readonly version: string;
  /** The folder its window shows, to tell windows apart. */
  readonly workspace: string;
  /** ISO 8601. */
  readonly since: string;
}

const holderSchema = z.object({
  pid: z.number().int().positive(),
  started: z.string(),
  realm: z.string(),
  machine: z.string(),
  host: z.string(),
  version: z.string(),
  workspace: z.string(),
  since: z.string(),
});

/** The right to write to a session, until it is let go. */
export interface Lock {
  release(): Promise<void>;
}

/** Whether the session is ours to write to, or who has it. */
export type LockOutcome =
  | { readonly kind: "locked"; readonly lock: Lock }
  | { readonly kind: "held"; readonly by: Holder; readonly path: string };

const NAME = /^lock\.[0-9a-f]{16}$/;
/** Two that begin in the same moment both step back; so often they try again. */
const ATTEMPTS = 5;
/** A lock taken this long ago, in milliseconds, is here to stay. */
const SETTLED_MS = 2_000;

async function readHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    // Only a power cut leaves one without its content: nobody lives who made it.
    return undefined;
  }
}

/** True where the holder may still write. In doubt it may. */
async function lives(holder: Holder, ask: AskSystem): Promise<boolean> {
  const own = await ownIdentity(ask);
  if (holder.realm !== own.realm) {
    const [boot] = holder.realm.split(" ");
    const [ownBoot] = own.realm.split(" ");
    // Another boot of this machine is over; another machine or container cannot be seen from here.
    return boot === ownBoot || holder.machine !== hostname();
  }
  const started = await processStarted(holder.pid, ask);
  if (started === undefined) return false;
  // The number may have gone to another program since.
  return started === holder.started || started === "" || holder.started === "";
}

/** The first living holder beside `own`; what dead ones left is taken away. */
async function otherHolder(
  directory: string,
  own: string,
  ask: AskSystem,
): Promise<{ by: Holder; path: string } | undefined> {
  for (const name of await readdir(directory)) {
    if (name === own) continue;
    if (!NAME.test(name)) continue;
    const path = join(directory, name);
    const by = await readHolder(path);
    if (by !== undefined && (await lives(by, ask))) return { by, path };
    // Its name is its own and never used again: a living lock cannot be hit.
    await rm(path, { force: true });
  }
  return undefined;
}

/**
 * Takes the right to write to a session, or says who has it. A lock whose process is gone, or
 * whose number another program has now, is taken over. Each lock is a file with a name of its
 * own, made before the others are looked at: of two that overlap, the later one sees the other.
 * Rejects with the error of the disk.
 */
export async function takeLock(
  directory: string,
  who: { host: string; version: string; workspace: string },
  ask: AskSystem,
): Promise<LockOutcome> {
  const identity = await ownIdentity(ask);
  for (let attempt = 1; ; attempt++) {
    const name = `lock.${randomBytes(8).toString("hex")}`;
    const path = join(directory, name);
    const holder: Holder = {
      ...identity,
      ...who,
      machine: hostname(),
      since: new Date().toISOString(),
    };
    try {
      await writeWhole(path, `${path}.tmp`, `${JSON.stringify(holder)}\n`, { flush: false });
    } catch (error) {
      // The holder that tidied up took the half-made lock for one of a dead process.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === ATTEMPTS) throw error;
      continue;
    }
    const other = await otherHolder(directory, name, ask).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    if (other === undefined) {
      return { kind: "locked", lock: { release: () => rm(path, { force: true }) } };
    }
    await rm(path, { force: true });
    const settled = Math.abs(Date.now() - Date.parse(other.by.since)) > SETTLED_MS;
    if (settled || attempt === ATTEMPTS) return { kind: "held", ...other };
    await delay(Math.random() * 20 * attempt);
  }
}

/** For a person: which window has a session. */
export function describeHolder(by: Holder, path: string): string {
  const where = by.workspace === "" ? "" : ` with ${by.workspace}`;
  const machine = by.machine === hostname() ? "" : ` on ${by.machine}`;
  const since = by.since.slice(0, 16).replace("T", " ");
  const cannotSee = machine === "" ? "" : ` If that is over for good, delete ${path}.`;
  return `${by.host}${where} (process ${by.pid}${machine}, since ${since} UTC) has this session open; here it is read-only.${cannotSee}`;
}
