import { WRITE_BYTES } from "../limits.js";
import { indexesOf } from "./find.js";
import { hasLoneSurrogate } from "./show.js";
import { type Place, placesLike } from "./similar.js";
import { ToolError } from "./types.js";
import { fileUnits, type Units } from "./units.js";

/** A file's bytes with `new` in the place of `old`. */
export interface Replacement {
  readonly bytes: Uint8Array;
  /** How often `old` was found and replaced. */
  readonly count: number;
  /** The line (from 1) of each. */
  readonly lines: readonly number[];
}

/** Lines that an error names, and places that it shows. */
const SHOWN = 20;

/** One place where `old` is found, in units of the file. */
interface Match {
  readonly start: number;
  readonly end: number;
}

/** A text whose CRLFs are LFs, and where each of its characters was before. */
interface Flat {
  readonly text: string;
  /** For each LF that was a CRLF, its index in `text`, ascending. */
  readonly pairs: readonly number[];
}

function flatten(text: string): Flat {
  const pairs: number[] = [];
  const pieces = text.split("\r\n");
  let at = 0;
  for (const piece of pieces.slice(0, -1)) {
    at += piece.length;
    pairs.push(at);
    at += 1;
  }
  return { text: pieces.join("\n"), pairs };
}

/** How many of `pairs` are below `index`. */
function below(pairs: readonly number[], index: number): number {
  let low = 0;
  let high = pairs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pairs[middle] ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Places where `old` is found with its LFs standing for LF or CRLF; a CRLF in `old` is only a CRLF. */
function looseMatches(file: string, old: string): Match[] {
  const flatFile = flatten(file);
  const flatOld = flatten(old);
  const origin = (index: number) => index + below(flatFile.pairs, index);
  return indexesOf(flatFile.text, flatOld.text)
    .filter((at) =>
      flatOld.pairs.every((pair) => {
        const index = at + pair;
        return flatFile.pairs[below(flatFile.pairs, index)] === index;
      }),
    )
    .map((at) => ({ start: origin(at), end: origin(at + flatOld.text.length) }));
}

/** Every place, in order and without overlaps. */
function matches(file: string, old: string): Match[] {
  const loose = old.includes("\n") ? looseMatches(file, old) : [];
  const exact = indexesOf(file, old).map((at) => ({ start: at, end: at + old.length }));
  const all = [...loose];
  let index = 0;
  for (const match of exact) {
    while (index < loose.length && (loose[index]?.end ?? 0) <= match.start) index++;
    const next = loose[index];
    if (next === undefined || next.start >= match.end) all.push(match);
  }
  return all.sort((a, b) => a.start - b.start);
}

/** Where the first match begins a second time within itself, or -1: "aa" is in "aaa" twice. */
function overlapOf(file: string, old: string, first: Match): number {
  // Whatever begins again within the match ends within one more length of it.
  const near = file.slice(first.start, first.end + (first.end - first.start));
  const flat = flatten(near);
  const loose = old.includes("\n");
  const [, second] = indexesOf(loose ? flat.text : near, loose ? flatten(old).text : old, true);
  if (second === undefined) return -1;
  const at = first.start + (loose ? second + below(flat.pairs, second) : second);
  return at < first.end ? at : -1;
}

/** The line endings of `text`, in order. */
function endings(text: string): string[] {
  return text.match(/\r?\n/g) ?? [];
}

/**
 * The line ending of a place's own line, else of the line before, else LF. Places come in order,
 * so that what was found for one serves the next.
 */
function endingFinder(file: string): (place: Match) => string {
  let feed = file.indexOf("\n");
  return (place) => {
    while (feed >= 0 && feed < place.end) {
      const next = file.indexOf("\n", feed + 1);
      if (next < 0) break;
      feed = next;
    }
    return feed > 0 && file[feed - 1] === "\r" ? "\r\n" : "\n";
  };
}

function commonHead(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

/**
 * `next` with the line endings of the place it goes to: a line that `old` and `next` share at the
 * start or the end keeps its own, the others take those of what they replace.
 */
function withEndingsOf(
  there: readonly string[],
  around: string,
  old: string,
  next: string,
): string {
  const oldLines = old.split(/\r?\n/);
  const lines = next.split("\n");
  const plain = lines.map((line) => line.replace(/\r$/, ""));
  const head = commonHead(oldLines, plain);
  const tail = commonHead([...oldLines].reverse(), [...plain].reverse());
  let text = lines[0] ?? "";
  for (let index = 1; index < lines.length; index++) {
    const fromEnd = lines.length - index;
    const own = index <= head ? index - 1 : fromEnd <= tail ? there.length - fromEnd : index - 1;
    const ending = there[Math.max(0, Math.min(own, there.length - 1))] ?? around;
    // A CR that the model wrote before its LF is the CR of this ending, not a second one.
    text = (text.endsWith("\r") && ending === "\r\n" ? text.slice(0, -1) : text) + ending;
    text += lines[index] ?? "";
  }
  return text;
}

/** The line (from 1) of each index; `indexes` ascend. */
function linesOf(file: string, indexes: readonly number[]): number[] {
  let line = 1;
  let feed = file.indexOf("\n");
  return indexes.map((index) => {
    for (; feed >= 0 && feed < index; feed = file.indexOf("\n", feed + 1)) line++;
    return line;
  });
}

function listed(lines: readonly number[]): string {
  const unique = [...new Set(lines)];
  const shown = unique.slice(0, SHOWN).join(", ");
  return unique.length > SHOWN ? `${shown}, and ${unique.length - SHOWN} more` : shown;
}

function notFound(units: Units, old: string): ToolError {
  const places: Place[] = placesLike(units.decode(units.file), units.decode(old));
  if (places.length === 0) {
    return new ToolError(
      "old was not found in the file. Read the file and give the text exactly as it is there.",
    );
  }
  const shown = places.map(({ line, text }) => `from line ${line}:\n${text}`).join("\n");
  return new ToolError(
    `old was not found as given, but with other white space or line endings it is there. Give it exactly as it is ${shown}`,
  );
}

function foundMoreThanOnce(count: number, lines: readonly number[]): ToolError {
  return new ToolError(
    `old was found ${count} times, on lines ${listed(lines)}. Give more of the text around the one that is meant, or set all to replace each.`,
  );
}

/** The file with each match replaced; undefined where it would be over the limit. */
function rebuild(
  units: Units,
  found: readonly Match[],
  old: string,
  next: string,
): string | undefined {
  const { file } = units;
  const endingAt = endingFinder(file);
  const mark = units.encode("\ufeff");
  const pieces: string[] = [];
  let at = 0;
  let length = 0;
  for (const match of found) {
    const there = endings(file.slice(match.start, match.end));
    let text = next.includes("\n") ? withEndingsOf(there, endingAt(match), old, next) : next;
    // The file has its byte order mark already; a second one would be a character of the text.
    if (units.start > 0 && match.start === units.start && text.startsWith(mark)) {
      text = text.slice(mark.length);
    }
    pieces.push(file.slice(at, match.start), text);
    length += match.start - at + text.length;
    at = match.end;
    if (length * units.width > WRITE_BYTES) return undefined;
  }
  pieces.push(file.slice(at));
  length += file.length - at;
  return length * units.width + units.rest.length > WRITE_BYTES ? undefined : pieces.join("");
}

/** Why these arguments cannot be used, whatever the file holds; undefined where they can. */
export function refuseReplacement(old: string, next: string): ToolError | undefined {
  if (old === "") {
    return new ToolError(
      "old is empty. Give the text to replace; write_file replaces a whole file.",
    );
  }
  if (old === next) return new ToolError("old and new are identical: there is nothing to change.");
  if (hasLoneSurrogate(old) || hasLoneSurrogate(next)) {
    return new ToolError("old and new must be valid text: one holds half of a surrogate pair.");
  }
  return undefined;
}

/**
 * The file with `old` replaced by `next`, literally, byte for byte; everything else stays as it
 * was. An LF in `old` also matches a CRLF, and what is written takes the line endings of what it
 * replaces. Without `all`, `old` must be there exactly once. A result over `WRITE_BYTES` is an error. A pure function.
 */
export function replaceBytes(
  bytes: Uint8Array,
  old: string,
  next: string,
  all: boolean,
): Replacement | ToolError {
  const refused = refuseReplacement(old, next);
  if (refused !== undefined) return refused;
  const units = fileUnits(bytes);
  const { file } = units;
  const wanted = units.encode(old);
  const found = matches(file, wanted);
  const [first] = found;
  if (first === undefined) return notFound(units, wanted);
  const starts = found.map((match) => match.start);
  const lines = linesOf(file, starts);
  if (!all && found.length > 1) return foundMoreThanOnce(found.length, lines);
  const second = all ? -1 : overlapOf(file, wanted, first);
  // Which one is meant changes the result.
  if (second >= 0) return foundMoreThanOnce(2, linesOf(file, [first.start, second]));
  const result = rebuild(units, found, wanted, units.encode(next));
  if (result === undefined) {
    return new ToolError(
      `The file would have more than ${WRITE_BYTES} bytes after the replacement, which is the limit. Make a smaller change.`,
    );
  }
  if (result === file) {
    return new ToolError(
      "The replacement changes nothing: what is replaced keeps its line endings, and the rest is the same. To change line endings use write_file.",
    );
  }
  return {
    bytes: Buffer.concat([units.toBytes(result), units.rest]),
    count: found.length,
    lines,
  };
}
