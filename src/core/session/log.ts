import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LOG_OPEN_BYTES } from "../limits.js";
import { type LogHead, lineHash } from "./chain.js";
import type { EventBody, SessionEvent } from "./events.js";
import { checkEvent, type Damage, parseLine, type ReadLog, readLog } from "./lines.js";

/** The log cannot take an event. `message` is for the user and says what to do. */
export class LogError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LogError";
  }
}

const APPEND = constants.O_WRONLY | constants.O_APPEND;

/** What an error of the disk means for the user; `path` is the file that could not be written. */
export function explain(error: unknown, path: string): LogError {
  const { code, message } = error as NodeJS.ErrnoException;
  const where = dirname(path);
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new LogError(`Not saved: the disk that holds ${where} is full. Free some space.`, {
        cause: error,
      });
    case "EFBIG":
      return new LogError(`Not saved: ${path} may not grow any more. Start a new session.`, {
        cause: error,
      });
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return new LogError(`Not saved: ${where} cannot be written to. Make it writable.`, {
        cause: error,
      });
    case "ENOENT":
    case "ENOTDIR":
      return new LogError(`Not saved: ${where} is gone. Bring it back, or start a new session.`, {
        cause: error,
      });
    default:
      return new LogError(`Not saved: ${message}. See to the disk that holds ${where}.`, {
        cause: error,
      });
  }
}

/** Flushes a directory, so that a name in it outlives a power cut; not every platform can. */
export async function flushDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * The append-only file of one session: one event, one line, one write. Events get their number and
 * time here, and each line the hash of the one before it in the file (`prev`, see `verify.ts`).
 * Appends run one after the other, in the order in which they were asked for.
 */
export class SessionLog {
  readonly damage: readonly Damage[];
  #handle: FileHandle | undefined;
  #identity: { dev: number; ino: number };
  /** Bytes of whole lines. */
  #size: number;
  #lastSeq: number;
  /** The hash of the last whole line, which the next one carries. */
  #lastHash: string | undefined;
  #head: LogHead | undefined;
  /** A cut last line that has still to be set aside. */
  #tail: Buffer;
  /** True where a failed write may have left part of a line behind `#size`. */
  #half = false;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly path: string,
    handle: FileHandle,
    identity: { dev: number; ino: number },
    read: ReadLog,
    private readonly limit: number,
  ) {
    this.#handle = handle;
    this.#identity = identity;
    this.#size = read.whole;
    this.#lastSeq = read.lastSeq;
    this.#lastHash = read.lastHash;
    this.#tail = read.tail;
    this.damage = read.damage;
  }

  /** Makes the file, readable by its owner alone. Rejects with `LogError`. */
  static async create(path: string, limit: number = LOG_OPEN_BYTES): Promise<SessionLog> {
    try {
      const handle = await open(path, APPEND | constants.O_CREAT | constants.O_EXCL, 0o600);
      const { dev, ino } = await handle.stat();
      await flushDirectory(dirname(path));
      const empty = { events: [], damage: [], foreign: undefined, whole: 0, lastSeq: 0 };
      const none = { ...empty, tail: Buffer.alloc(0), lastHash: undefined, headLost: false };
      return new SessionLog(path, handle, { dev, ino }, none, limit);
    } catch (error) {
      throw explain(error, path);
    }
  }

  /** Reads a log and changes nothing, not even a cut last line. */
  static async read(path: string, head?: LogHead): Promise<ReadLog> {
    const handle = await open(path, "r");
    try {
      const read = await readLog(handle, head);
      const last = parseLine(read.tail);
      if (read.tail.length > 0 && last.kind === "event") read.events.push(last.event);
      return read;
    } finally {
      await handle.close();
    }
  }

  /**
   * Reads a log and opens it for appending; a cut last line is set aside in `log.torn` beside it.
   * `log` is undefined where the log is not for this version to write to. A log that does not hold
   * the line of `head` has that among its damage. `limit` is for tests alone.
   */
  static async open(
    path: string,
    head?: LogHead,
    limit: number = LOG_OPEN_BYTES,
  ): Promise<{ read: ReadLog; log: SessionLog | undefined }> {
    const reader = await open(path, "r");
    let read: ReadLog;
    try {
      read = await readLog(reader, head, limit);
    } finally {
      await reader.close();
    }
    if (read.foreign !== undefined) return { read, log: undefined };
    let handle: FileHandle;
    try {
      handle = await open(path, APPEND);
    } catch (error) {
      throw explain(error, path);
    }
    const { dev, ino } = await handle.stat();
    const log = new SessionLog(path, handle, { dev, ino }, read, limit);
    const last = parseLine(read.tail);
    if (read.tail.length > 0 && last.kind === "event") {
      // Only its newline is missing: the event is whole and counts.
      read.events.push(last.event);
      log.#lastSeq = Math.max(log.#lastSeq, last.event.seq);
      log.#lastHash = lineHash(read.tail);
    }
    // A full disk is no reason not to show the session; the next append tries again.
    await log.#exclusive(() => log.#settle()).catch(() => {});
    return { read, log };
  }

  /**
   * Writes one event. With `flush` it is on disk when this resolves: for what permits an effect.
   * Rejects with `LogError`; then nothing of it stays in the file, and a later append may work.
   */
  append(body: EventBody, options: { flush?: boolean } = {}): Promise<SessionEvent> {
    return this.#exclusive(async () => {
      try {
        return await this.#append(body, options.flush === true);
      } catch (error) {
        throw error instanceof LogError ? error : explain(error, this.path);
      }
    });
  }

  /** The last line that is known to be on the disk, flushed: it outlives a power cut. */
  get head(): LogHead | undefined {
    return this.#head;
  }

  /** Waits for what is under way and closes the file. */
  close(): Promise<void> {
    return this.#exclusive(async () => {
      const handle = this.#handle;
      this.#handle = undefined;
      await handle?.close();
    });
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #append(body: EventBody, flush: boolean): Promise<SessionEvent> {
    const seq = this.#lastSeq + 1;
    const event = checkEvent({ ...body, seq, at: new Date().toISOString() });
    const { seq: _seq, at, turn, type, ...fields } = event;
    const envelope = { seq, at, ...(turn === undefined ? {} : { turn }), type };
    // Its own line alone has the hash; no event in memory does. Undefined leaves it out.
    const text = JSON.stringify({ ...envelope, ...fields, prev: this.#lastHash });
    const line = Buffer.from(`${text}\n`);
    if (this.#size + line.length > this.limit) {
      throw new LogError("Not saved: this session has become too long. Start a new session.");
    }
    await this.#settle();
    const handle = await this.#current();
    this.#half = true;
    try {
      await this.#write(handle, line);
      if (flush) await handle.datasync();
    } catch (error) {
      await this.#dropHalf(handle).catch(() => {});
      throw error;
    }
    this.#half = false;
    this.#size += line.length;
    this.#lastSeq = seq;
    this.#lastHash = lineHash(line.subarray(0, -1));
    if (flush) this.#head = { seq, hash: this.#lastHash };
    return event;
  }

  async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
    let written = 0;
    // One write; what it leaves over is tried again only to hear from the system what is wrong.
    while (written < bytes.length) {
      written += (await handle.write(bytes, written, bytes.length - written, null)).bytesWritten;
    }
  }

  async #dropHalf(handle: FileHandle): Promise<void> {
    await handle.truncate(this.#size);
    this.#half = false;
  }

  /** The open file, once it is sure that it is still the one at the path and nobody else wrote. */
  async #current(): Promise<FileHandle> {
    const now = await stat(this.path).catch(async (error: unknown) => {
      await this.#letGo();
      throw error;
    });
    if (now.dev !== this.#identity.dev || now.ino !== this.#identity.ino) await this.#letGo();
    if (this.#handle === undefined) {
      const handle = await open(this.path, APPEND);
      const { dev, ino } = await handle.stat();
      this.#handle = handle;
      this.#identity = { dev, ino };
    }
    if (now.size !== this.#size) {
      throw new LogError(
        `Not saved: another program changed ${this.path}. Close the session and open it again.`,
      );
    }
    return this.#handle;
  }

  async #letGo(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
  }

  /** Leaves the file with whole lines alone. */
  async #settle(): Promise<void> {
    if (this.#half && this.#handle !== undefined) await this.#dropHalf(this.#handle);
    if (this.#tail.length === 0 || this.#handle === undefined) return;
    if (parseLine(this.#tail).kind === "event") {
      await this.#write(this.#handle, Buffer.from("\n"));
      this.#size += this.#tail.length + 1;
    } else {
      await this.#setAside(this.#tail);
      await this.#handle.truncate(this.#size);
    }
    this.#tail = Buffer.alloc(0);
  }

  async #setAside(bytes: Buffer): Promise<void> {
    const torn = await open(join(dirname(this.path), "log.torn"), "a", 0o600);
    try {
      await this.#write(torn, Buffer.concat([bytes, Buffer.from("\n")]));
      await torn.sync();
    } finally {
      await torn.close();
    }
  }
}
