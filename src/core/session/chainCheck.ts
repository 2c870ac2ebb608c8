/** Holds the lines of a log against each other: what the hashes and numbers in them say. */
import type { LogHead } from "./chain.js";

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

/** One thing that does not fit, and where. */
export interface LogFault {
  readonly kind: FaultKind;
  /** From 1. */
  readonly line: number;
  /** One sentence for the user. */
  readonly text: string;
}

/** What a log's hashes say of all its lines. */
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
/** What a line says of its place: its number, and the hash of the line that it was written after. */
export interface Place {
  readonly seq: number;
  readonly prev?: string | undefined;
}

function numbers(from: number, to: number): string {
  return from === to ? `number ${from} is` : `numbers ${from} to ${to} are`;
}

function lineRange(from: number, to: number): string {
  return from === to ? `Line ${from} was` : `Lines ${from} to ${to} were`;
}

/** Takes line after line and keeps what it finds; its memory does not grow with the log. */
export class ChainCheck {
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

  add(hash: string, found: Place | undefined): void {
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

  end(tail: { hash: string; found: Place | undefined } | undefined): LogVerdict {
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

  #compare(line: number, { seq, prev }: Place): void {
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
