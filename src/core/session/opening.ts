import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Blobs } from "./blobs.js";
import { type Allow, SCHEMA, type SessionEvent } from "./events.js";
import type { ReadLog } from "./lines.js";
import { describeHolder, type Lock, takeLock } from "./lock.js";
import { flushDirectory, LogError, SessionLog } from "./log.js";
import { type Meta, readMeta, removeTemporaries, writeMeta } from "./meta.js";
import type { AskSystem } from "./process.js";
import { addEvent, noFacts, type SessionFacts } from "./state.js";
import { NO_TITLE, titleFrom } from "./title.js";

/** Events that are taken in at a stretch. */
const SLICE = 10_000;

/** Who opens a session; shown to the other window that finds it locked. */
export interface Opener {
  readonly host: string;
  readonly version: string;
  readonly ask: AskSystem;
  readonly report: (message: string) => void;
}

/** What a session on disk is, once it is open. */
export interface Opened {
  readonly directory: string;
  readonly read: Pick<ReadLog, "events" | "damage" | "headLost">;
  readonly facts: SessionFacts;
  /** Undefined where nothing may be written; then `lock` is too. */
  readonly log: SessionLog | undefined;
  readonly lock: Lock | undefined;
  readonly meta: Meta;
  readonly readOnly: string | undefined;
  readonly heldElsewhere: boolean;
  readonly report: (message: string) => void;
}

/** What `meta.json` says, made again from the log; the allows are the file's alone. */
export function metaFrom(events: readonly SessionEvent[], facts: SessionFacts): Meta {
  const created = events[0]?.at ?? new Date(0).toISOString();
  return {
    title: facts.firstAsk === undefined ? NO_TITLE : titleFrom(facts.firstAsk),
    renamed: false,
    workspace: facts.workspace ?? "",
    created,
    updated: events.at(-1)?.at ?? created,
    model: facts.model,
    allows: [],
  };
}

/** The facts of a log, without holding the extension host while a long one is read. */
async function gatherFacts(events: readonly SessionEvent[]): Promise<SessionFacts> {
  const facts = noFacts();
  for (const [index, event] of events.entries()) {
    addEvent(facts, event);
    if (index % SLICE === SLICE - 1) await setImmediate();
  }
  return facts;
}

/** Makes a session's directory. Rejects with `LogError`, or the error of the disk. */
export async function createSession(
  directory: string,
  workspace: string,
  opener: Opener,
  allows: readonly Allow[] = [],
): Promise<Opened> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await flushDirectory(join(directory, ".."));
  const { host, version } = opener;
  const locked = await takeLock(directory, { host, version, workspace }, opener.ask);
  if (locked.kind === "held") throw new LogError(describeHolder(locked.by, locked.path));
  try {
    const log = await SessionLog.create(join(directory, "log.jsonl"));
    const first = await log.append(
      { type: "session_started", schema: SCHEMA, workspace, version },
      { flush: true },
    );
    const facts = noFacts();
    addEvent(facts, first);
    const { head } = log;
    const meta = { ...metaFrom([first], facts), allows: [...allows], ...(head && { head }) };
    await writeMeta(directory, meta);
    return {
      directory,
      read: { events: [first], damage: [], headLost: false },
      facts,
      log,
      lock: locked.lock,
      meta,
      readOnly: undefined,
      heldElsewhere: false,
      report: opener.report,
    };
  } catch (error) {
    await locked.lock.release();
    throw error;
  }
}

/**
 * Opens a session: to write where nobody else has it and its log is of this version, else to
 * read, with the reason in `readOnly`. Rejects where it cannot even be read.
 */
export async function openSession(directory: string, opener: Opener): Promise<Opened> {
  const path = join(directory, "log.jsonl");
  const known = await readMeta(directory);
  const { host, version } = opener;
  const who = { host, version, workspace: known?.workspace ?? "" };
  let lock: Lock | undefined;
  let readOnly: string | undefined;
  let heldElsewhere = false;
  try {
    const outcome = await takeLock(directory, who, opener.ask);
    if (outcome.kind === "locked") lock = outcome.lock;
    else {
      readOnly = describeHolder(outcome.by, outcome.path);
      heldElsewhere = true;
    }
  } catch (error) {
    readOnly = `This session cannot be written to (${(error as Error).message}); it is read-only.`;
  }
  try {
    let log: SessionLog | undefined;
    let read: ReadLog;
    if (lock === undefined) read = await SessionLog.read(path, known?.head);
    else {
      ({ read, log } = await SessionLog.open(path, known?.head));
      await removeTemporaries(directory).catch(() => {});
      await new Blobs(directory).tidy().catch(() => {});
    }
    readOnly ??= read.foreign;
    const facts = await gatherFacts(read.events);
    const meta = known ?? metaFrom(read.events, facts);
    if (log === undefined) {
      await lock?.release();
      lock = undefined;
    }
    const { report } = opener;
    return {
      directory,
      read,
      facts,
      log,
      lock,
      meta,
      readOnly,
      heldElsewhere,
      report,
    };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}
