import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Allow, type EventBody, SCHEMA, type SessionEvent } from "./events.js";
import type { Damage, ReadLog } from "./lines.js";
import { describeHolder, type Lock, takeLock } from "./lock.js";
import { flushDirectory, LogError, SessionLog } from "./log.js";
import { type Meta, readMeta, removeTemporaries, writeMeta } from "./meta.js";
import type { AskSystem } from "./process.js";
import { addEvent, allowKey, noFacts, type SessionFacts } from "./state.js";
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

export interface AppendOptions {
  /** On disk, flushed, when the promise resolves: for what permits an effect. */
  readonly flush?: boolean;
  /** Called when the event is in the log, before any listener hears of it. */
  readonly appended?: (event: SessionEvent) => void;
}

interface Parts {
  readonly directory: string;
  readonly read: Pick<ReadLog, "events" | "damage">;
  readonly facts: SessionFacts;
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

/**
 * One session on disk, open: its log, what follows from it, and its `meta.json`. An event is part
 * of `events` and `facts`, and is told to listeners, once it is in the log.
 */
export class SessionRecord {
  readonly id: string;
  readonly directory: string;
  readonly events: SessionEvent[];
  readonly facts: SessionFacts;
  readonly damage: readonly Damage[];
  /** Why nothing may be written, or undefined. */
  readonly readOnly: string | undefined;
  /** True where another process has the session and may be at work on it. */
  readonly heldElsewhere: boolean;
  readonly #log: SessionLog | undefined;
  readonly #lock: Lock | undefined;
  readonly #report: (message: string) => void;
  #meta: Meta;
  #metaWrites: Promise<unknown> = Promise.resolve();
  #trouble: string | undefined;
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #troubleListeners = new Set<(message: string | undefined) => void>();

  private constructor(parts: Parts) {
    this.directory = parts.directory;
    this.id = basename(parts.directory);
    this.events = parts.read.events;
    this.damage = parts.read.damage;
    this.facts = parts.facts;
    this.readOnly = parts.readOnly;
    this.heldElsewhere = parts.heldElsewhere;
    this.#log = parts.log;
    this.#lock = parts.lock;
    this.#meta = parts.meta;
    this.#report = parts.report;
  }

  /** Makes a session. Rejects with `LogError`, or the error of the disk. */
  static async create(
    directory: string,
    workspace: string,
    opener: Opener,
    allows: readonly Allow[] = [],
  ): Promise<SessionRecord> {
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
      const meta = { ...metaFrom([first], facts), allows: [...allows] };
      await writeMeta(directory, meta);
      return new SessionRecord({
        directory,
        read: { events: [first], damage: [] },
        facts,
        log,
        lock: locked.lock,
        meta,
        readOnly: undefined,
        heldElsewhere: false,
        report: opener.report,
      });
    } catch (error) {
      await locked.lock.release();
      throw error;
    }
  }

  /**
   * Opens a session: to write where nobody else has it and its log is of this version, else to
   * read, with the reason in `readOnly`. Rejects where it cannot even be read.
   */
  static async open(directory: string, opener: Opener): Promise<SessionRecord> {
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
      if (lock === undefined) read = await SessionLog.read(path);
      else {
        ({ read, log } = await SessionLog.open(path));
        await removeTemporaries(directory).catch(() => {});
      }
      readOnly ??= read.foreign;
      const facts = await gatherFacts(read.events);
      const meta = known ?? metaFrom(read.events, facts);
      if (log === undefined) {
        await lock?.release();
        lock = undefined;
      }
      const { report } = opener;
      return new SessionRecord({
        directory,
        read,
        facts,
        log,
        lock,
        meta,
        readOnly,
        heldElsewhere,
        report,
      });
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  get meta(): Meta {
    return this.#meta;
  }

  /** The user's, else one from the first ask. */
  get title(): string {
    const { firstAsk } = this.facts;
    return this.#meta.renamed || firstAsk === undefined ? this.#meta.title : titleFrom(firstAsk);
  }

  /** Why the last event could not be saved, until one can be again. For the user. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Rejects with `LogError` where the event is not in the log; see `SessionLog.append`. */
  async append(body: EventBody, options: AppendOptions = {}): Promise<SessionEvent> {
    if (this.#log === undefined) throw new LogError(this.readOnly ?? "This session is closed.");
    let event: SessionEvent;
    try {
      event = await this.#log.append(body, options);
    } catch (error) {
      if (error instanceof LogError) this.#setTrouble(error.message);
      throw error;
    }
    this.events.push(event);
    addEvent(this.facts, event);
    options.appended?.(event);
    this.#setTrouble(undefined);
    this.#tell(this.#listeners, event);
    return event;
  }

  allows(): readonly Allow[] {
    return this.#meta.allows;
  }

  /** On disk when it resolves; rejects with `LogError`, and then nothing is allowed. */
  async addAllow(allow: Allow): Promise<void> {
    const key = allowKey(allow);
    try {
      await this.#changeMeta((meta) =>
        meta.allows.some((one) => allowKey(one) === key)
          ? meta
          : { ...meta, allows: [...meta.allows, allow] },
      );
    } catch (error) {
      const message = `Not saved: the allow could not be written to ${this.directory} (${(error as Error).message}).`;
      throw new LogError(message, { cause: error });
    }
  }

  /** Takes an allow out of `meta.json`; on disk when it resolves. Rejects with `LogError`. */
  async removeAllow(allow: Allow): Promise<void> {
    const key = allowKey(allow);
    try {
      await this.#changeMeta((meta) => {
        const allows = meta.allows.filter((one) => allowKey(one) !== key);
        return allows.length < meta.allows.length ? { ...meta, allows } : meta;
      });
    } catch (error) {
      const message = `Not saved: the allow could not be taken out of meta.json in ${this.directory} (${(error as Error).message}).`;
      throw new LogError(message, { cause: error });
    }
  }

  /** Rejects with the error of the disk; then the title is as it was. */
  async rename(title: string): Promise<void> {
    await this.#changeMeta((meta) => ({ ...meta, title: titleFrom(title), renamed: true }));
  }

  /** Brings title, times and model of `meta.json` up to date. A failure is only reported. */
  async refreshMeta(): Promise<void> {
    if (this.#log === undefined) return;
    const { model } = this.facts;
    try {
      await this.#changeMeta((meta) => ({
        ...meta,
        title: this.title,
        model: model ?? meta.model,
        updated: new Date().toISOString(),
      }));
    } catch (error) {
      this.#report(`meta.json of ${this.id} could not be written: ${(error as Error).message}`);
    }
  }

  onEvent(listener: (event: SessionEvent) => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  onTrouble(listener: (message: string | undefined) => void): { dispose(): void } {
    this.#troubleListeners.add(listener);
    return { dispose: () => void this.#troubleListeners.delete(listener) };
  }

  /** Waits for what is being written, closes the log and lets go of the lock. */
  async close(): Promise<void> {
    await this.#metaWrites;
    await this.#log?.close();
    await this.#lock?.release();
  }

  #changeMeta(change: (meta: Meta) => Meta): Promise<void> {
    const work = async (): Promise<void> => {
      if (this.#log === undefined) throw new LogError(this.readOnly ?? "This session is closed.");
      const next = change(this.#meta);
      if (next === this.#meta) return;
      await writeMeta(this.directory, next);
      this.#meta = next;
    };
    const result = this.#metaWrites.then(work);
    this.#metaWrites = result.catch(() => {});
    return result;
  }

  #setTrouble(message: string | undefined): void {
    if (message === this.#trouble) return;
    this.#trouble = message;
    this.#tell(this.#troubleListeners, message);
  }

  #tell<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
    for (const listener of [...listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#report(`a listener failed: ${(error as Error).stack}`);
      }
    }
  }
}
