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

function shown(lines: readonly string[]): string {
  const cut = lines
    .slice(0, LINES)
    .map((line) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}[...]` : line));
  if (lines.length > LINES) cut.push(`[${lines.length - LINES} more lines]`);
  return cut.map((line) => line.replace(/\r$/, "\\r")).join("\n");
}

/** Up to three places where `old` is found when white space and line endings do not count. */
export function placesLike(file: string, old: string): Place[] {
  const wanted = old.split(/\r\n|\n|\r/).map(squeeze);
  while (wanted.length > 1 && wanted[0] === "") wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  if (wanted.every((line) => line === "")) return [];
  const raw = file.split("\n");
  const lines = raw.map(squeeze);
  const places: Place[] = [];
  for (let at = 0; at + wanted.length <= lines.length && places.length < PLACES; at++) {
    if (!fits(lines, at, wanted)) continue;
    places.push({ line: at + 1, text: shown(raw.slice(at, at + wanted.length)) });
  }
  return places;
}
