/**
 * What the hashes in a log can say. Each line carries the hash of the line before it, and
 * `meta.json` the hash of a line near the end, so that a line that was changed, removed, put in or
 * moved shows. It is no proof against someone who can write to the folder and takes the trouble:
 * whoever changes a line can make every later hash, and `meta.json`, anew. It proves that nobody
 * has edited the file by hand, that no program or disk has damaged it unseen, and, to one who noted
 * the hash of the last line elsewhere, that the log up to it is the one it was then. Lines behind
 * the one that `meta.json` knows can be taken from the end, or the last one changed, unseen.
 */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import type { LogHead } from "./chain.js";
import { ChainCheck, type LogVerdict, type Place } from "./chainCheck.js";
import { readMeta } from "./meta.js";

/** Read at a stretch; between two the host does other things. */
const CHUNK_BYTES = 256 * 1024;
/** A longer line is not parsed, which would hold the host: its two ends say what is needed. */
const LINE_BYTES = 4 * 1024 * 1024;
const END_BYTES = 256;
const NEWLINE = 0x0a;

const envelope = z.object({
  seq: z.number().int().positive(),
  at: z.string(),
  type: z.string(),
  prev: z.string().optional(),
});

function parse(line: Buffer): Place | undefined {
  let start = 0;
  let end = line.length;
  // A power cut leaves NUL bytes beside an event, and reading takes it all the same.
  while (start < end && line[start] === 0) start++;
  while (end > start && line[end - 1] === 0) end--;
  try {
    return envelope.safeParse(JSON.parse(line.toString("utf8", start, end))).data;
  } catch {
    return undefined;
  }
}

/** The envelope of a line as `log.ts` writes it, from its two ends. */
function parseEnds(head: Buffer, tail: Buffer): Place | undefined {
  const seq = /^\{"seq":(\d{1,15}),/.exec(head.toString("latin1"))?.[1];
  if (seq === undefined) return undefined;
  const prev = /,"prev":"([0-9a-f]{64})"\}$/.exec(tail.toString("latin1"))?.[1];
  return { seq: Number(seq), ...(prev === undefined ? {} : { prev }) };
}

/** The bytes of one line as they come: all of them for the hash, and all of a usual one to parse. */
class Line {
  readonly #hash: Hash = createHash("sha256");
  #parts: Buffer[] | undefined = [];
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  length = 0;

  add(part: Buffer): void {
    this.#hash.update(part);
    this.length += part.length;
    this.#parts?.push(part);
    if (this.length > LINE_BYTES) {
      if (this.#parts !== undefined) this.#head = Buffer.concat(this.#parts, END_BYTES);
      this.#parts = undefined;
      this.#tail = Buffer.concat([this.#tail, part]).subarray(-END_BYTES);
    }
  }

  end(): { hash: string; found: Place | undefined } {
    const hash = this.#hash.digest("hex");
    if (this.#parts === undefined) return { hash, found: parseEnds(this.#head, this.#tail) };
    const [only = Buffer.alloc(0), ...rest] = this.#parts;
    return { hash, found: parse(rest.length === 0 ? only : Buffer.concat([only, ...rest])) };
  }
}

async function readLines(handle: FileHandle, check: ChainCheck): Promise<LogVerdict> {
  let position = 0;
  let line = new Line();
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return check.end(line.length === 0 ? undefined : line.end());
    position += bytesRead;
    for (let start = 0; start < bytesRead; ) {
      const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      line.add(chunk.subarray(start, end === -1 ? bytesRead : end));
      if (end === -1) break;
      const { hash, found } = line.end();
      check.add(hash, found);
      line = new Line();
      start = end + 1;
    }
    await setImmediate();
  }
}

/**
 * Reads a log from its start and says what does not fit. `head` is what `meta.json` knows of it.
 * Memory is bounded and the event loop is not held. Rejects with the error of the disk.
 */
export async function verifyLog(path: string, head?: LogHead): Promise<LogVerdict> {
  const handle = await open(path, "r");
  try {
    return await readLines(handle, new ChainCheck(head));
  } finally {
    await handle.close();
  }
}

/** The same for the log in a session's directory, with the head in the `meta.json` beside it. */
export async function verifySession(directory: string): Promise<LogVerdict> {
  // First what is known of the end: a log that goes on meanwhile only grows past it.
  const meta = await readMeta(directory);
  return verifyLog(join(directory, "log.jsonl"), meta?.head);
}
