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

function fits(lines: readonly string[], at: number, wanted: readonly string[]): boolean {
  const last = wanted.length - 1;
  return wanted.every((text, index) => {
    const line = lines[at + index] ?? "";
    if (last === 0) return line.includes(text);
    if (index === 0) return line.endsWith(text);
    return index === last ? line.startsWith(text) : line === text;
  });
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
  for (let at = 0; at + wanted.length <= lines.length && places.length < PLACES; at++) {
    if (!fits(lines, at, wanted)) continue;
    const here = raw.slice(at, at + wanted.length);
    places.push({ line: here[0]?.number ?? 1, text: shown(here) });
  }
  return places;
}
