import type { FileHandle } from "node:fs/promises";
import { BINARY_SNIFF_BYTES } from "../limits.js";
import { cutTail } from "./kept.js";
import { ToolError, type ToolResult } from "./types.js";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** A piece of a file: the bytes from `from` up to `to`, and how to go on. */
export interface Window {
  readonly kind: "window";
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The file's size when it was opened, in bytes. */
  readonly size: number;
  readonly encoding: Encoding;
  /** Absent where the file ends here. */
  readonly next?: { readonly offset: number } | { readonly line: number };
  /** The line (from 1) that the window begins with, for a read by line. */
  readonly line?: number;
  readonly notes: readonly string[];
}

/** Nothing is there to read: the start is past the end, or the file is empty. */
export interface PastEnd {
  readonly kind: "past";
  readonly size: number;
  readonly asked: string;
  /** Lines of the file, where they were counted. */
  readonly lines?: number;
}

const SCAN_BYTES = 256 * 1024;
/** Bytes looked at before and after a window, to keep characters whole. */
const MARGIN = 4;

/** `size` is what the file says of itself: it can be wrong, and only spares the question for more. */
async function readAt(
  handle: FileHandle,
  size: number,
  at: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, at + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
    if (at + filled === size) break;
  }
  return buffer.subarray(0, filled);
}

/** The beginning of a file, read once: what lies in it is not read again. */
export class Start {
  private constructor(
    private readonly handle: FileHandle,
    /** The file's size when it was opened, in bytes. */
    readonly size: number,
    private readonly bytes: Buffer,
    /** Whether that is all of the file. */
    private readonly whole: boolean,
  ) {}

  /** The first `length` bytes; 8 KiB at least, to tell whether the file is binary. */
  static async read(handle: FileHandle, size: number, length: number): Promise<Start> {
    const bytes = await readAt(handle, size, 0, length);
    return new Start(handle, size, bytes, bytes.length < length);
  }

  get encoding(): Encoding {
    return encodingOf(this.bytes);
  }

  /** A NUL byte in the first 8 KiB, and no byte order mark of UTF-16. */
  get binary(): boolean {
    return this.encoding === "utf-8" && this.bytes.subarray(0, BINARY_SNIFF_BYTES).includes(0);
  }

  /** `length` bytes of the file from `at` on; fewer where it ends. */
  async at(at: number, length: number): Promise<Buffer> {
    const known = this.whole || at + length <= this.bytes.length;
    if (known) return this.bytes.subarray(at, at + length);
    return readAt(this.handle, this.size, at, length);
  }
}

/** How much of a file's beginning a read of `limit` bytes from there may look at. */
export function reachOf(limit: number): number {
  return limit + 2 * MARGIN;
}

function encodingOf(head: Uint8Array): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return "utf-8";
}

function unitAt(bytes: Buffer, at: number, encoding: Encoding): number {
  if (at < 0 || at + 2 > bytes.length) return 0;
  return encoding === "utf-16le" ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
}
const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Bytes from `at` to the end of the character that `at` is inside of, or 0 where it is at a start. */
function restOfCharacter(
  bytes: Buffer,
  at: number,
  fileOffset: number,
  encoding: Encoding,
): number {
  if (encoding !== "utf-8") {
    const odd = fileOffset % 2;
    const next = at + odd;
    const split = isLow(unitAt(bytes, next, encoding)) && isHigh(unitAt(bytes, next - 2, encoding));
    return odd + (split ? 2 : 0);
  }
  for (let back = 1; back <= 3 && isContinuation(bytes[at]); back++) {
    const lead = bytes[at - back];
    if (lead === undefined) return 0;
    if (isContinuation(lead)) continue;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    const whole = bytes.subarray(at - back + 1, at - back + length);
    if (length <= back || whole.length < length - 1 || !whole.every(isContinuation)) return 0;
    return length - back;
  }
  return 0;
}

/** Where a window that may hold `limit` bytes ends, so that it cuts no character. */
function wholeEnd(bytes: Buffer, limit: number, encoding: Encoding): number {
  if (bytes.length <= limit) return bytes.length;
  if (encoding === "utf-8") return limit - cutTail(bytes.subarray(0, limit));
  const even = limit - (limit % 2);
  return isHigh(unitAt(bytes, even - 2, encoding)) ? even - 2 : even;
}

function decode(
  bytes: Buffer,
  encoding: Encoding,
  atStart: boolean,
): { text: string; exact: boolean } {
  // The mark of UTF-8 stays, so that the text is the file; that of UTF-16 is told in words.
  const options = { ignoreBOM: encoding === "utf-8" || !atStart };
  try {
    return {
      text: new TextDecoder(encoding, { ...options, fatal: true }).decode(bytes),
      exact: true,
    };
  } catch {
    return { text: new TextDecoder(encoding, options).decode(bytes), exact: false };
  }
}

interface Piece {
  readonly bytes: Buffer;
  readonly from: number;
  readonly size: number;
  readonly encoding: Encoding;
  readonly notes?: readonly string[];
}

function windowOf(piece: Piece, more: Pick<Window, "next" | "line">): Window {
  const { bytes, from, size, encoding } = piece;
  const { text, exact } = decode(bytes, encoding, from === 0);
  const notes = [...(piece.notes ?? [])];
  if (encoding !== "utf-8") notes.push(encoding === "utf-16le" ? "UTF-16 LE" : "UTF-16 BE");
  if (!exact) notes.push(`bytes that are no ${encoding.toUpperCase()} are shown as U+FFFD`);
  return { kind: "window", text, from, to: from + bytes.length, size, encoding, notes, ...more };
}

/** At most `limit` bytes from `offset` (bytes, from 0), no character cut at either end. */
export async function readByOffset(
  start: Start,
  offset: number,
  limit: number,
): Promise<Window | PastEnd> {
  const before = Math.min(offset, MARGIN);
  const around = await start.at(offset - before, before + reachOf(limit));
  const { encoding, size } = start;
  const skipped = restOfCharacter(around, before, offset, encoding);
  const bytes = around.subarray(before + skipped);
  if (bytes.length === 0) return { kind: "past", size, asked: `offset ${offset}` };
  const from = offset + skipped;
  const end = wholeEnd(bytes, limit, encoding);
  const notes =
    skipped > 0 ? [`offset ${offset} is inside a character; this goes on from ${from}`] : [];
  return windowOf(
    { bytes: bytes.subarray(0, end), from, size, encoding, notes },
    end < bytes.length ? { next: { offset: from + end } } : {},
  );
}

/** The index after the next line feed from `from` on, or -1. `bytes` begins at an even offset. */
function afterLineFeed(bytes: Buffer, from: number, encoding: Encoding): number {
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    if (encoding === "utf-8") return at + 1;
    if (encoding === "utf-16le" && at % 2 === 0 && bytes[at + 1] === 0) return at + 2;
    if (encoding === "utf-16be" && at % 2 === 1 && bytes[at - 1] === 0) return at + 1;
  }
  return -1;
}

/** Where line `line` begins; or, where there is no such line, how many there are. */
async function findLine(
  file: Start,
  line: number,
  signal: AbortSignal | undefined,
): Promise<{ start: number } | { lines: number }> {
  const { encoding } = file;
  let start = 0;
  let at = 0;
  let current = 1;
  while (current < line) {
    signal?.throwIfAborted();
    const chunk = await file.at(at, SCAN_BYTES);
    if (chunk.length === 0) break;
    for (
      let end = afterLineFeed(chunk, 0, encoding);
      end >= 0 && current < line;
      end = afterLineFeed(chunk, end, encoding)
    ) {
      current += 1;
      start = at + end;
    }
    at += chunk.length;
  }
  const there = (await file.at(start, 1)).length > 0;
  if (current === line && there) return { start };
  return { lines: there ? current : current - 1 };
}

/**
 * Whole lines from line `line` (from 1) on, at most `limit` bytes. A line that is longer comes in
 * its first part, with the byte offset to go on from. Rejects with the signal's reason.
 */
export async function readByLine(
  start: Start,
  line: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Window | PastEnd> {
  const { encoding, size } = start;
  const found = await findLine(start, line, signal);
  if ("lines" in found) return { kind: "past", size, asked: `line ${line}`, lines: found.lines };
  const from = found.start;
  const bytes = await start.at(from, limit + MARGIN);
  const piece = { from, size, encoding };
  if (bytes.length <= limit) return windowOf({ ...piece, bytes }, { line });

  let end = 0;
  let lines = 0;
  for (
    let after = afterLineFeed(bytes, 0, encoding);
    after >= 0 && after <= limit;
    after = afterLineFeed(bytes, after, encoding)
  ) {
    end = after;
    lines += 1;
  }
  if (end > 0) {
    return windowOf(
      { ...piece, bytes: bytes.subarray(0, end) },
      { line, next: { line: line + lines } },
    );
  }
  const cut = wholeEnd(bytes, limit, encoding);
  const notes = [`line ${line} is longer than ${limit} bytes: this is its beginning`];
  return windowOf(
    { ...piece, bytes: bytes.subarray(0, cut), notes },
    { line, next: { offset: from + cut } },
  );
}

/** What the model gets: the text, and after it in brackets whatever there is to say. */
export function windowText(name: string, read: Window | PastEnd): ToolResult | ToolError {
  if (read.kind === "past") {
    if (read.size === 0) return { ok: true, text: `[${name} is empty (0 bytes)]` };
    const lines = read.lines === undefined ? "" : ` and ${read.lines} lines`;
    return new ToolError(
      `${name}: ${read.asked} is past the end; the file has ${read.size} bytes${lines}.`,
    );
  }
  const said = [...read.notes];
  if (read.next !== undefined) {
    const [[key, value] = ["offset", read.to]] = Object.entries(read.next);
    said.push(`bytes ${read.from} to ${read.to} of ${read.size}; go on with ${key} ${value}`);
  }
  if (said.length === 0) return { ok: true, text: read.text };
  const gap = read.text === "" || read.text.endsWith("\n") ? "" : "\n";
  return { ok: true, text: `${read.text}${gap}[${said.join("; ")}]` };
}
