import { decodeBytes, decodeWide, type WideEncoding } from "./decode.js";
import type { Pace } from "./pace.js";
import { visible } from "./visible.js";

/** A file as numbers, one a line; equal lines (their ends included) have equal numbers. */
export interface Lines {
  readonly ids: Uint32Array;
  /** Whether there is a line that ends in LF, and every one of them ends in CRLF. */
  readonly crlf: boolean;
  /** Set where the file is UTF-16 and its lines are text, not bytes. */
  readonly wide: WideEncoding | undefined;
}

/** Pieces of a file that are decoded at once, in bytes; they end at a line's end. */
const PIECE_BYTES = 32 * 1024;
const LF = 0x0a;
/** Lines after which the clock is looked at. */
const PACE_LINES = 1_024;

/** Every different line of both files, once. */
export class LineTable {
  readonly #ids = new Map<WideEncoding | undefined, Map<string, number>>();
  readonly #texts: string[] = [];

  get size(): number {
    return this.#texts.length;
  }

  /** The number of `line`, its line end included. In another encoding it is another line: its bytes differ. */
  id(line: string, wide?: WideEncoding): number {
    let ids = this.#ids.get(wide);
    if (ids === undefined) {
      ids = new Map();
      this.#ids.set(wide, ids);
    }
    const known = ids.get(line);
    if (known !== undefined) return known;
    const id = this.#texts.length;
    ids.set(line, id);
    this.#texts.push(line);
    return id;
  }

  /** A reader of lines as a card shows them: without LF, and without the CR before it if `hideCr`. */
  lines(hideCr: boolean): (id: number) => { text: string; ended: boolean } {
    return (id) => {
      const line = this.#texts[id] ?? "";
      const ended = line.endsWith("\n");
      const end = ended ? (hideCr && line.endsWith("\r\n") ? -2 : -1) : undefined;
      return { text: visible(line.slice(0, end), { keep: "\t", bytes: true }), ended };
    };
  }
}

/** Where the piece that starts at `from` ends: after the last LF within reach, or the next one. */
function pieceEnd(bytes: Uint8Array, from: number): number {
  const reach = from + PIECE_BYTES;
  if (reach >= bytes.length) return bytes.length;
  const last = bytes.lastIndexOf(LF, reach - 1);
  if (last >= from) return last + 1;
  const next = bytes.indexOf(LF, reach);
  return next === -1 ? bytes.length : next + 1;
}

/** A file's text in pieces that end at a line's end. */
function* piecesOf(bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const end = pieceEnd(bytes, at);
    yield decodeBytes(bytes.subarray(at, end));
    at = end;
  }
}

/** Splits at LF alone, as every diff tool does; a lone CR stays inside its line. */
export async function splitBytes(bytes: Uint8Array, table: LineTable, pace: Pace): Promise<Lines> {
  const ids: number[] = [];
  let ended = 0;
  let crlf = 0;
  const wide = decodeWide(bytes);
  for (const text of wide === undefined ? piecesOf(bytes) : [wide.text]) {
    for (let from = 0; from < text.length; ) {
      const lf = text.indexOf("\n", from);
      const next = lf === -1 ? text.length : lf + 1;
      if (lf !== -1) ended += 1;
      if (lf > from && text.charCodeAt(lf - 1) === 0x0d) crlf += 1;
      ids.push(table.id(text.slice(from, next), wide?.encoding));
      from = next;
      if (ids.length % PACE_LINES === 0 && pace.due) await pace.rest();
    }
    if (pace.due) await pace.rest();
  }
  return { ids: Uint32Array.from(ids), crlf: ended > 0 && crlf === ended, wide: wide?.encoding };
}
