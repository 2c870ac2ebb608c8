import { GREP_LINE_CHARS } from "../limits.js";
import { showLine } from "./show.js";

/** One matching line, as ripgrep tells of it. */
export interface Hit {
  /** As ripgrep names it, in bytes. */
  readonly path: Buffer;
  /** From 1; null where ripgrep did not count. */
  readonly line: number | null;
  /** On one line, cut around the match. */
  readonly text: string;
}

/** A text in ripgrep's JSON: itself, or base64 where it is no UTF-8. */
interface Data {
  readonly text?: string;
  readonly bytes?: string;
}

type Message =
  | { readonly type: "begin"; readonly data: { readonly path: Data } }
  | {
      readonly type: "match";
      readonly data: {
        readonly path: Data;
        readonly lines: Data;
        readonly line_number: number | null;
        readonly submatches: readonly { readonly start: number; readonly end: number }[];
      };
    }
  | { readonly type: "end" | "summary" | "context" };

/** ripgrep's own output: trusted to have its own form, but a broken line must not throw. */
function parse(line: Buffer): Message | undefined {
  try {
    return JSON.parse(line.toString("utf8")) as Message;
  } catch {
    return undefined;
  }
}

function bytesOf(data: Data): Buffer {
  return data.bytes === undefined
    ? Buffer.from(data.text ?? "")
    : Buffer.from(data.bytes, "base64");
}

/** An index that does not fall between the halves of a surrogate pair. */
function betweenCharacters(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return index > 0 && index < text.length && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/** A piece of a text that does not keep all of it in memory: 200 hits may come from lines of 8 MiB. */
function ownCopy(piece: string): string {
  return Buffer.from(piece, "utf16le").toString("utf16le");
}

/** At most `GREP_LINE_CHARS` characters of `line` around the characters from `start` to `end`. */
function around(line: string, start: number, end: number): string {
  if (line.length <= GREP_LINE_CHARS) return showLine(line);
  const shown = Math.min(end - start, GREP_LINE_CHARS);
  const before = Math.floor((GREP_LINE_CHARS - shown) / 2);
  const latest = line.length - GREP_LINE_CHARS;
  const from = betweenCharacters(line, Math.max(0, Math.min(start - before, latest)));
  const to = betweenCharacters(line, from + GREP_LINE_CHARS);
  const left = from > 0 ? "[...]" : "";
  const right = to < line.length ? "[...]" : "";
  return left + showLine(ownCopy(line.slice(from, to))) + right;
}

function textOf(lines: Data, submatch: { start: number; end: number } | undefined): string {
  const bytes = bytesOf(lines);
  const whole = bytes.toString("utf8").replace(/\r?\n$/, "");
  const start = bytes.subarray(0, submatch?.start ?? 0).toString("utf8").length;
  const match = bytes.subarray(submatch?.start ?? 0, submatch?.end ?? 0).toString("utf8").length;
  return around(whole, Math.min(start, whole.length), Math.min(start + match, whole.length));
}

/** Turns ripgrep's lines of JSON into hits. */
export class HitReader {
  #path: Buffer = Buffer.alloc(0);
  /** True once ripgrep said that it had searched: what it complains of then is of single files. */
  searched = false;

  /** A hit, or undefined for any other message. `rest` is the end of a line that was too long. */
  read(line: Buffer, rest?: Buffer): Hit | undefined {
    if (rest !== undefined) return this.#tooLong(rest);
    const message = parse(line);
    if (message === undefined) return undefined;
    if (message.type === "begin") this.#path = bytesOf(message.data.path);
    if (message.type === "begin" || message.type === "summary") this.searched = true;
    if (message.type !== "match") return undefined;
    const { path, lines, line_number, submatches } = message.data;
    return { path: bytesOf(path), line: line_number, text: textOf(lines, submatches[0]) };
  }

  #tooLong(rest: Buffer): Hit | undefined {
    const end = rest.toString("latin1");
    const found = /"line_number":(\d+),"absolute_offset":(\d+).*?"start":(\d+)/.exec(end);
    const offset =
      found === null ? "" : `: read_file from offset ${Number(found[2]) + Number(found[3])}`;
    const line = found === null ? null : Number(found[1]);
    return { path: this.#path, line, text: `[a line too long to show${offset}]` };
  }
}
