import { randomBytes } from "node:crypto";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionSummary } from "../turn/live.js";
import type { Allow } from "./events.js";
import { parseLine, type ReadLog } from "./lines.js";
import { SessionLog } from "./log.js";
import { type Meta, readMeta } from "./meta.js";
import { metaFrom, type Opener } from "./opening.js";
import { SessionRecord } from "./record.js";
import { factsOf } from "./state.js";

const ID = /^[0-9a-z]{9}-[0-9a-f]{12}$/;
/** Files read at a time. */
const BATCH = 64;
/** How much of a log is looked at where its `meta.json` is lost. */
const HEAD_BYTES = 64 * 1024;

/** A name that sorts by time and that nobody can guess. */
export function newSessionId(now: number = Date.now()): string {
  return `${now.toString(36).padStart(9, "0")}-${randomBytes(6).toString("hex")}`;
}

/** The sessions of one home: `<home>/sessions/<id>/`. */
export class SessionStore {
  readonly directory: string;
  constructor(
    home: string,
    private readonly opener: Opener,
  ) {
    this.directory = join(home, "sessions");
  }

  /** The directory of a session. Rejects where `id` is no session. */
  async directoryOf(id: string): Promise<string> {
    // An id comes from outside: without this one with ".." would open any directory.
    if (ID.test(id)) {
      const directory = join(this.directory, id);
      const found = await stat(join(directory, "log.jsonl")).catch(() => undefined);
      if (found?.isFile()) return directory;
    }
    throw new Error(`There is no session "${id}".`);
  }

  /** `allows` are on `meta.json` before the session can be seen. */
  create(workspace: string, allows: readonly Allow[] = []): Promise<SessionRecord> {
    const directory = join(this.directory, newSessionId());
    return SessionRecord.create(directory, workspace, this.opener, allows);
  }

  async open(id: string): Promise<SessionRecord> {
    return SessionRecord.open(await this.directoryOf(id), this.opener);
  }

  /** What its log holds, without a lock and without a change on disk. */
  async read(id: string): Promise<Pick<ReadLog, "events" | "damage"> & { title: string }> {
    const directory = await this.directoryOf(id);
    const meta = await readMeta(directory);
    const { events, damage } = await SessionLog.read(join(directory, "log.jsonl"), meta?.head);
    return { events, damage, title: meta?.title ?? metaFrom(events, factsOf(events)).title };
  }

  /** Newest first, from each `meta.json` alone; a log is looked into only where that is lost. */
  async list(): Promise<readonly SessionSummary[]> {
    const names = (await readdir(this.directory).catch(() => [])).filter((name) => ID.test(name));
    const summaries: SessionSummary[] = [];
    for (let start = 0; start < names.length; start += BATCH) {
      const batch = names.slice(start, start + BATCH);
      for (const one of await Promise.all(batch.map((id) => this.#summary(id)))) {
        if (one !== undefined) summaries.push(one);
      }
    }
    return summaries.sort((a, b) =>
      a.updated === b.updated ? compare(b.id, a.id) : compare(b.updated, a.updated),
    );
  }

  async #summary(id: string): Promise<SessionSummary | undefined> {
    const directory = join(this.directory, id);
    const meta = (await readMeta(directory)) ?? (await metaFromHead(join(directory, "log.jsonl")));
    if (meta === undefined) return undefined;
    const { title, workspace, created, updated, model } = meta;
    return { id, title, workspace, created, updated, model };
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function metaFromHead(path: string): Promise<Meta | undefined> {
  try {
    const handle = await open(path, "r");
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0);
      const { mtime } = await handle.stat();
      const events = head
        .subarray(0, bytesRead)
        .toString("utf8")
        .split("\n")
        .flatMap((line) => {
          const parsed = parseLine(Buffer.from(line));
          return parsed.kind === "event" ? [parsed.event] : [];
        });
      if (events.length === 0) return undefined;
      return { ...metaFrom(events, factsOf(events)), updated: mtime.toISOString() };
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
