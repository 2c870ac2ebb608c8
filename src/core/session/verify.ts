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
import { readMeta } from "./meta.js";

/**
 * - `changed`: a line is not the one that the next line was written after
 * - `removed`: numbers are missing before a line
 * - `inserted`: lines that nothing was written after
 * - `moved`: a line stands behind one with a larger number
 * - `unreadable`: no event, and not so when the line after it was written
 * - `cut`: the file ends in the middle of a line
 * - `end`: the line that `meta.json` knows is not there
 */
export type FaultKind = "changed" | "removed" | "inserted" | "moved" | "unreadable" | "cut" | "end";

export interface LogFault {
  readonly kind: FaultKind;
  /** From 1. */
  readonly line: number;
  /** One sentence for the user. */
  readonly text: string;
}

export interface LogVerdict {
  readonly lines: number;
  /** The first line whose hash of the line before it is there; undefined where none has one. */
  readonly chainFrom: number | undefined;
  /** What is wrong, in the order of the file; at most `MOST_FAULTS` of them. */
  readonly faults: readonly LogFault[];
  /** How many more there are. */
  readonly more: number;
  /** Damage that was there when the log went on after it, a sentence each. */
  readonly notes: readonly string[];
  /** The line that `meta.json` knows: lines behind it could be taken away unseen. */
  readonly headLine: number | undefined;
  /** The hash of the last line, to note elsewhere. */
  readonly lastHash: string | undefined;
}

/** Faults and notes told one by one. */
const MOST_FAULTS = 100;
/** Lines whose hashes are kept, to tell lines that were put in from lines that were changed. */
const WINDOW = 1_024;
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
type Envelope = Pick<z.infer<typeof envelope>, "seq" | "prev">;

function parse(line: Buffer): Envelope | undefined {
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
function parseEnds(head: Buffer, tail: Buffer): Envelope | undefined {
  const seq = /^\{"seq":(\d{1,15}),/.exec(head.toString("latin1"))?.[1];
  if (seq === undefined) return undefined;
  const prev = /,"prev":"([0-9a-f]{64})"\}$/.exec(tail.toString("latin1"))?.[1];
  return { seq: Number(seq), ...(prev === undefined ? {} : { prev }) };
}

function numbers(from: number, to: number): string {
  return from === to ? `number ${from} is` : `numbers ${from} to ${to} are`;
}

function lineRange(from: number, to: number): string {
  return from === to ? `Line ${from} was` : `Lines ${from} to ${to} were`;
}

/** Takes line after line and keeps what it finds; its memory does not grow with the log. */
class Check {
  readonly #faults: LogFault[] = [];
  readonly #notes: string[] = [];
  readonly #recent = new Map<string, number>();
  #more = 0;
  #line = 0;
  #chainFrom: number | undefined;
  #headLine: number | undefined;
  #lastHash: string | undefined;
  /** The largest number so far, and how many unreadable lines came since. */
  #lastSeq = 0;
  #unread = 0;
  /** An unreadable last line: what it was shows by what the next line was written after. */
  #doubtful: { line: number; hash: string } | undefined;

  constructor(private readonly head: LogHead | undefined) {}

  add(hash: string, found: Envelope | undefined): void {
    this.#line++;
    const line = this.#line;
    if (found === undefined) this.#unreadable(line, hash);
    else {
      this.#settleDoubt(found.prev);
      this.#compare(line, found);
      this.#lastSeq = Math.max(this.#lastSeq, found.seq);
      this.#unread = 0;
    }
    if (hash === this.head?.hash && found?.seq === this.head.seq) this.#headLine = line;
    this.#lastHash = hash;
    this.#recent.set(hash, line);
    if (this.#recent.size > WINDOW) {
      for (const oldest of this.#recent.keys()) {
        this.#recent.delete(oldest);
        break;
      }
    }
  }

  end(tail: { hash: string; found: Envelope | undefined } | undefined): LogVerdict {
    if (tail !== undefined) {
      if (tail.found !== undefined) this.add(tail.hash, tail.found);
      const line = tail.found === undefined ? this.#line + 1 : this.#line;
      const what = tail.found === undefined ? "in the middle of a line" : "without a line break";
      this.#fault("cut", line, `The file ends ${what}, as a crash leaves it, or a hand.`);
    }
    this.#settleDoubt(undefined);
    this.#compareHead();
    return {
      lines: this.#line,
      chainFrom: this.#chainFrom,
      faults: this.#faults,
      more: this.#more,
      notes: this.#notes,
      headLine: this.#headLine,
      lastHash: this.#lastHash,
    };
  }

  #unreadable(line: number, hash: string): void {
    this.#settleDoubt(undefined);
    this.#doubtful = { line, hash };
    this.#unread++;
  }

  #settleDoubt(prev: string | undefined): void {
    const doubtful = this.#doubtful;
    this.#doubtful = undefined;
    if (doubtful === undefined) return;
    const { line, hash } = doubtful;
    if (prev === hash) {
      if (this.#notes.length < MOST_FAULTS) {
        this.#notes.push(`Line ${line} cannot be read, and could not when the next was written.`);
      }
    } else {
      this.#fault(
        "unreadable",
        line,
        `Line ${line} is no event: it was changed, damaged or put in.`,
      );
    }
  }

  #compare(line: number, { seq, prev }: Envelope): void {
    if (prev === undefined) {
      if (this.#chainFrom === undefined) this.#compareNumbers(line, seq);
      else {
        const text = `Line ${line} does not say what it was written after: it was put in, or an older version wrote it.`;
        this.#fault("inserted", line, text);
      }
      return;
    }
    const first = this.#chainFrom === undefined;
    this.#chainFrom ??= line;
    if (prev === this.#lastHash) {
      // Numbers are of no use where the hashes are, but for what came before the first of them.
      if (first) this.#compareNumbers(line, seq);
      return;
    }
    const after = this.#recent.get(prev);
    if (line === 1) {
      this.#fault("removed", line, "Lines were removed before the first one.");
    } else if (seq <= this.#lastSeq) {
      const text = `Line ${line} (number ${seq}) stands behind number ${this.#lastSeq}: lines were changed, moved or put in.`;
      this.#fault("moved", line, text);
    } else if (after !== undefined) {
      const text = `${lineRange(after + 1, line - 1)} put in or moved there: line ${line} was written after line ${after}.`;
      this.#fault("inserted", after + 1, text);
    } else if (seq > this.#lastSeq + 1 + this.#unread) {
      const text = `Lines were removed before line ${line}: ${numbers(this.#lastSeq + 1, seq - 1)} missing.`;
      this.#fault("removed", line, text);
    } else {
      const text = `Line ${line - 1} is not what line ${line} was written after: one of the two was changed.`;
      this.#fault("changed", line - 1, text);
    }
  }

  /** All that there is to see in lines that were written before there were hashes. */
  #compareNumbers(line: number, seq: number): void {
    if (seq <= this.#lastSeq) {
      const text = `Line ${line} (number ${seq}) stands behind number ${this.#lastSeq}: lines were changed, moved or put in.`;
      this.#fault("moved", line, text);
    } else if (seq > this.#lastSeq + 1 + this.#unread) {
      const text = `Lines were removed before line ${line}: ${numbers(this.#lastSeq + 1, seq - 1)} missing.`;
      this.#fault("removed", line, text);
    }
  }

  #compareHead(): void {
    const { head } = this;
    if (head === undefined || this.#headLine !== undefined) return;
    const text =
      this.#lastSeq < head.seq
        ? `Lines were removed from the end: ${numbers(this.#lastSeq + 1, head.seq)} missing.`
        : `The line with number ${head.seq} is not the one that was there when meta.json was written.`;
    this.#fault("end", this.#line, text);
  }

  #fault(kind: FaultKind, line: number, text: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ kind, line, text });
    else this.#more++;
  }
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

  end(): { hash: string; found: Envelope | undefined } {
    const hash = this.#hash.digest("hex");
    if (this.#parts === undefined) return { hash, found: parseEnds(this.#head, this.#tail) };
    const [only = Buffer.alloc(0), ...rest] = this.#parts;
    return { hash, found: parse(rest.length === 0 ? only : Buffer.concat([only, ...rest])) };
  }
}

async function readLines(handle: FileHandle, check: Check): Promise<LogVerdict> {
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
    return await readLines(handle, new Check(head));
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
