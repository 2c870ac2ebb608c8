import { indexesOf, occurrences } from "./find.js";

/** A place in a file, as it is there. */
export interface Place {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

const PLACES = 3;
const LINES = 20;
const LINE_CHARS = 300;

function squeeze(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}

/** The indexes of lines from which on `wanted` fits: whole lines, but for its first and last one. */
function* fitting(lines: readonly string[], wanted: readonly string[]): Generator<number> {
  const [first = "", ...others] = wanted;
  const last = others.pop();
  if (last === undefined) {
    for (const [at, line] of lines.entries()) if (indexesOf(line, first).length > 0) yield at;
    return;
  }
  const fits = (at: number) =>
    lines[at]?.endsWith(first) === true && lines[at + others.length + 1]?.startsWith(last) === true;
  if (others.length === 0) {
    for (let at = 0; at + 1 < lines.length; at++) if (fits(at)) yield at;
    return;
  }
  // Lines as numbers: equal lines have equal numbers, so that each is compared once.
  const numbers = new Map<string, number>();
  const numbered = (all: readonly string[]) =>
    Int32Array.from(all, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  for (const at of occurrences(numbered(lines), numbered(others))) {
    if (at > 0 && fits(at - 1)) yield at - 1;
  }
}

/** One line as it is in the file, and what ends it. */
interface Line {
  readonly text: string;
  readonly ending: string;
  /** From 1, as lines are counted elsewhere: a lone CR ends none. */
  readonly number: number;
}

function linesOf(file: string): Line[] {
  let number = 1;
  return file.split(/(?<=\n)|(?<=\r)(?!\n)/).map((whole) => {
    const ending = /\r?\n$|\r$/.exec(whole)?.[0] ?? "";
    const line = { text: whole.slice(0, whole.length - ending.length), ending, number };
    if (ending.endsWith("\n")) number += 1;
    return line;
  });
}

function shown(lines: readonly Line[]): string {
  const cut = lines.slice(0, LINES).map(({ text, ending }) => {
    const line = text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS)}[...]` : text;
    return ending === "\r" ? `${line}\\r` : line;
  });
  if (lines.length > LINES) cut.push(`[${lines.length - LINES} more lines]`);
  return cut.join("\n");
}

/** Up to three places where `old` is found when white space and line endings do not count. */
export function placesLike(file: string, old: string): Place[] {
  const wanted = old.split(/\r\n|\n|\r/).map(squeeze);
  while (wanted.length > 1 && wanted[0] === "") wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  if (wanted.every((line) => line === "")) return [];
  const raw = linesOf(file);
  const lines = raw.map((line) => squeeze(line.text));
  const places: Place[] = [];
  for (const at of fitting(lines, wanted)) {
    const here = raw.slice(at, at + wanted.length);
    places.push({ line: here[0]?.number ?? 1, text: shown(here) });
    if (places.length === PLACES) break;
  }
  return places;
}
