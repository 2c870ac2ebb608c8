import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import * as z from "zod";
import { LOG_OPEN_BYTES } from "../limits.js";
import { type LogHead, lineHash } from "./chain.js";
import { type EventType, eventFields, SCHEMA, type SessionEvent } from "./events.js";

/** A place in a log that could not be read; the events around it are there. */
export interface Damage {
  /** From 1. */
  readonly line: number;
  /** Where in the events it lies: after this many of them. */
  readonly after: number;
  readonly reason: string;
}

/** What a log file holds. */
export interface ReadLog {
  readonly events: SessionEvent[];
  readonly damage: Damage[];
  /** Why a program that knows only this vocabulary must not write to it, or undefined. */
  readonly foreign: string | undefined;
  /** Bytes up to and with the last newline. */
  readonly whole: number;
  /** What comes after the last newline: a line that was cut while it was written. */
  readonly tail: Buffer;
  /** The largest `seq` that may have been used. */
  readonly lastSeq: number;
  /** The hash of the last whole line, or undefined where there is none. */
  readonly lastHash: string | undefined;
  /** True where the line that `meta.json` knows is not there as it was. */
  readonly headLost: boolean;
}

/** Parsed at a stretch: some 10 ms. */
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

const envelope = { seq: z.number().int().positive(), at: z.string(), turn: z.string().optional() };
const schemas = Object.fromEntries(
  Object.entries(eventFields).map(([type, fields]) => [
    type,
    fields.extend({ ...envelope, type: z.literal(type) }),
  ]),
) as unknown as Record<EventType, z.ZodType<SessionEvent>>;

const head = z.looseObject({ ...envelope, type: z.string() });

type Line =
  | { readonly kind: "event"; readonly event: SessionEvent; readonly note?: string }
  | { readonly kind: "damaged"; readonly reason: string }
  | { readonly kind: "foreign"; readonly reason: string; readonly seq: number };

function isKnown(type: string): type is EventType {
  return Object.hasOwn(schemas, type);
}

/** Takes away what no event is made of; throws where `event` is none: a bug of ours. */
export function checkEvent(event: SessionEvent): SessionEvent {
  return schemas[event.type].parse(event);
}

function withoutNuls(line: Buffer): Buffer {
  let start = 0;
  let end = line.length;
  while (start < end && line[start] === 0) start++;
  while (end > start && line[end - 1] === 0) end--;
  return line.subarray(start, end);
}

/** One line, without its newline. */
export function parseLine(line: Buffer): Line {
  // A power cut leaves runs of NUL bytes, before or after what a later append wrote.
  const text = withoutNuls(line);
  if (text.length === 0) {
    return {
      kind: "damaged",
      reason: line.length === 0 ? "an empty line" : `${line.length} NUL bytes`,
    };
  }
  let value: unknown;
  try {
    value = JSON.parse(text.toString("utf8"));
  } catch {
    return { kind: "damaged", reason: `${line.length} bytes that are no event` };
  }
  const known = head.safeParse(value);
  if (!known.success) {
    return { kind: "damaged", reason: `${line.length} bytes that are no event` };
  }
  const { type, seq } = known.data;
  if (!isKnown(type)) return { kind: "foreign", reason: `an event "${type}"`, seq };
  const parsed = schemas[type].safeParse(value);
  if (!parsed.success) return { kind: "damaged", reason: `an event "${type}" without its fields` };
  const event = parsed.data;
  if (event.type === "session_started" && event.schema > SCHEMA) {
    return { kind: "foreign", reason: `schema ${event.schema}`, seq };
  }
  if (text.length < line.length) {
    return { kind: "event", event, note: `${line.length - text.length} NUL bytes beside an event` };
  }
  if (!isUtf8(text)) return { kind: "event", event, note: "bytes that are no UTF-8" };
  return { kind: "event", event };
}

class Collector {
  readonly events: SessionEvent[] = [];
  readonly damage: Damage[] = [];
  foreign: string | undefined;
  lastSeq = 0;
  lastLine: Buffer | undefined;
  #lines = 0;
  headLost: boolean;

  constructor(private readonly head: LogHead | undefined) {
    this.headLost = head !== undefined;
  }

  add(line: Buffer): void {
    this.#lines++;
    this.lastLine = line;
    const parsed = parseLine(line);
    if (parsed.kind === "event") {
      this.#look(parsed.event.seq, line);
      this.events.push(parsed.event);
      this.lastSeq = Math.max(this.lastSeq, parsed.event.seq);
      if (parsed.note !== undefined) this.#report(parsed.note);
      return;
    }
    if (parsed.kind === "foreign") {
      this.foreign ??= `a newer Countersign wrote this session (${parsed.reason}); update to go on with it`;
      this.lastSeq = Math.max(this.lastSeq, parsed.seq);
      return;
    }
    // The event that stood here had a number of its own.
    this.lastSeq++;
    this.#report(parsed.reason);
  }

  /** `tail`: a last line without its newline, which counts too. */
  end(tail: Buffer): void {
    const last = parseLine(tail);
    if (tail.length > 0 && last.kind === "event") this.#look(last.event.seq, tail);
    // A longer log was not read to its end, and a newer one is for a newer version to judge.
    if (this.foreign !== undefined) this.headLost = false;
    if (!this.headLost) return;
    this.#lines++;
    this.#report(`not the line ${this.head?.seq} that meta.json knows: Verify Log tells more`);
  }

  /** One line alone is hashed, so that opening costs what it did. */
  #look(seq: number, line: Buffer): void {
    if (seq === this.head?.seq && lineHash(line) === this.head.hash) this.headLost = false;
  }

  #report(reason: string): void {
    this.damage.push({ line: this.#lines, after: this.events.length, reason });
  }
}

/**
 * Reads a whole log. Damaged lines are named and hide nothing of the rest. At most
 * `LOG_OPEN_BYTES` are read; a longer log counts as foreign. Where the line that `head` names is
 * not there as it was, that is damage too. Rejects with the error of the disk.
 */
export async function readLog(
  handle: FileHandle,
  head?: LogHead,
  /** For tests alone, in bytes. */
  limit: number = LOG_OPEN_BYTES,
): Promise<ReadLog> {
  const lines = new Collector(head);
  let pending: Buffer[] = [];
  let position = 0;
  let whole = 0;
  for (;;) {
    // A buffer for each chunk: the rest of a line is kept without being copied.
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    // One byte more than the limit tells a log that is longer from one that is just as long.
    const wanted = Math.min(CHUNK_BYTES, limit + 1 - position);
    const { bytesRead } = await handle.read(chunk, 0, wanted, position);
    if (bytesRead === 0) break;
    let start = 0;
    for (;;) {
      const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      if (end === -1) break;
      const part = chunk.subarray(start, end);
      lines.add(pending.length === 0 ? part : Buffer.concat([...pending, part]));
      pending = [];
      start = end + 1;
      whole = position + start;
    }
    if (start < bytesRead) pending.push(chunk.subarray(start, bytesRead));
    position += bytesRead;
    if (position > limit) {
      lines.foreign ??= `this session is longer than ${limit / 1024 / 1024} MiB, and only that much of it is shown; start a new session`;
      pending = [];
      break;
    }
  }
  const tail = Buffer.concat(pending);
  lines.end(tail);
  const { events, damage, foreign, lastSeq, lastLine, headLost } = lines;
  const lastHash = lastLine && lineHash(lastLine);
  return { events, damage, foreign, whole, tail, lastSeq, lastHash, headLost };
}
