import { basename } from "node:path";
import { Blobs } from "./blobs.js";
import type { Allow, EventBody, SessionEvent } from "./events.js";
import type { Damage } from "./lines.js";
import { Listeners } from "./listeners.js";
import type { Lock } from "./lock.js";
import { LogError, type SessionLog } from "./log.js";
import type { Meta } from "./meta.js";
import { MetaFile } from "./metaFile.js";
import { createSession, type Opened, type Opener, openSession } from "./opening.js";
import { addEvent, type SessionFacts } from "./state.js";
import { titleFrom } from "./title.js";

export type { Opener };

/** How an event gets into the log. */
export interface AppendOptions {
  /** On disk, flushed, when the promise resolves: for what permits an effect. */
  readonly flush?: boolean;
  /** Called when the event is in the log, before any listener hears of it. */
  readonly appended?: (event: SessionEvent) => void;
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
  readonly #blobs: Blobs;
  readonly #log: SessionLog | undefined;
  readonly #lock: Lock | undefined;
  readonly #report: (message: string) => void;
  readonly #meta: MetaFile;
  #trouble: string | undefined;
  readonly #listeners: Listeners<SessionEvent>;
  readonly #troubleListeners: Listeners<string | undefined>;

  private constructor(opened: Opened) {
    this.directory = opened.directory;
    this.id = basename(opened.directory);
    this.#blobs = new Blobs(opened.directory);
    this.events = opened.read.events;
    this.damage = opened.read.damage;
    this.facts = opened.facts;
    this.readOnly = opened.readOnly;
    this.heldElsewhere = opened.heldElsewhere;
    this.#log = opened.log;
    this.#lock = opened.lock;
    this.#report = opened.report;
    const refusal = opened.log === undefined ? this.#refusal : undefined;
    // A head whose line is gone stays, so that a session that goes on does not hide it.
    const lost = opened.read.headLost ? opened.meta.head : undefined;
    const head = () => lost ?? opened.log?.head;
    this.#meta = new MetaFile(opened.directory, opened.meta, refusal, head);
    this.#listeners = new Listeners(opened.report);
    this.#troubleListeners = new Listeners(opened.report);
  }

  /** Makes a session. Rejects with `LogError`, or the error of the disk. */
  static async create(
    directory: string,
    workspace: string,
    opener: Opener,
    allows: readonly Allow[] = [],
  ): Promise<SessionRecord> {
    return new SessionRecord(await createSession(directory, workspace, opener, allows));
  }

  /**
   * Opens a session: to write where nobody else has it and its log is of this version, else to
   * read, with the reason in `readOnly`. Rejects where it cannot even be read.
   */
  static async open(directory: string, opener: Opener): Promise<SessionRecord> {
    return new SessionRecord(await openSession(directory, opener));
  }

  get meta(): Meta {
    return this.#meta.now;
  }

  /** The user's, else one from the first ask. */
  get title(): string {
    const { firstAsk } = this.facts;
    return this.meta.renamed || firstAsk === undefined ? this.meta.title : titleFrom(firstAsk);
  }

  /** Why the last event could not be saved, until one can be again. For the user. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Rejects with `LogError` where the event is not in the log; see `SessionLog.append`. */
  async append(body: EventBody, options: AppendOptions = {}): Promise<SessionEvent> {
    if (this.#log === undefined) throw new LogError(this.#refusal);
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
    this.#listeners.tell(event);
    return event;
  }

  /** Keeps bytes in `blobs/`, flushed when it resolves with their digest. Rejects with `LogError`. */
  async keep(bytes: Uint8Array): Promise<string> {
    if (this.#log === undefined) throw new LogError(this.readOnly ?? "This session is closed.");
    try {
      return await this.#blobs.keep(bytes);
    } catch (error) {
      if (error instanceof LogError) this.#setTrouble(error.message);
      throw error;
    }
  }

  /** Bytes that were kept, or undefined where they are gone or damaged. */
  kept(digest: string): Promise<Uint8Array | undefined> {
    return this.#blobs.read(digest);
  }

  allows(): readonly Allow[] {
    return this.meta.allows;
  }

  /** On disk when it resolves; rejects with `LogError`, and then nothing is allowed. */
  addAllow(allow: Allow): Promise<void> {
    return this.#meta.addAllow(allow);
  }

  /** Takes an allow out of `meta.json`; on disk when it resolves. Rejects with `LogError`. */
  removeAllow(allow: Allow): Promise<void> {
    return this.#meta.removeAllow(allow);
  }

  /** Rejects with the error of the disk; then the title is as it was. */
  rename(title: string): Promise<void> {
    return this.#meta.rename(title);
  }

  /** Brings title, times and model of `meta.json` up to date. A failure is only reported. */
  async refreshMeta(): Promise<void> {
    if (this.#log === undefined) return;
    const { model } = this.facts;
    try {
      await this.#meta.change((meta) => ({
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
    return this.#listeners.add(listener);
  }

  onTrouble(listener: (message: string | undefined) => void): { dispose(): void } {
    return this.#troubleListeners.add(listener);
  }

  /** Waits for what is being written, closes the log and lets go of the lock. */
  async close(): Promise<void> {
    await this.#meta.settled();
    await this.#log?.close();
    await this.#lock?.release();
  }

  get #refusal(): string {
    return this.readOnly ?? "This session is closed.";
  }

  #setTrouble(message: string | undefined): void {
    if (message === this.#trouble) return;
    this.#trouble = message;
    this.#troubleListeners.tell(message);
  }
}
