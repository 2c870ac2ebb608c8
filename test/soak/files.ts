import type { Random } from "./random.js";

/** The files that model and editor fight about, relative to the workspace. */
export const FILES = [
  ...(["files/a.txt", "files/b.txt", "files/c.txt", "files/sub/d.txt"] as const),
  ...(["files/sub/e.txt", "files/deep/x/f.txt", "files/in/d.txt"] as const),
] as const;

/**
 * A text that tells whether it is whole: how many lines there are, and in each the mark of whoever
 * wrote it. A change of the mark in all of them is one change; a mixture is a torn file.
 */
export function marked(mark: string, random: Random): string {
  const lines = random.pick([1, 3, 40, 400, random.below(3_000)]);
  const eol = random.chance(0.2) ? "\r\n" : "\n";
  const bom = random.chance(0.1) ? "\ufeff" : "";
  const rest = Array.from({ length: lines }, (_, index) => `${index} ${mark} é漢${eol}`);
  return `${bom}${lines} lines ${mark}${eol}${rest.join("")}`;
}

/** The mark of a text that is whole, or what is wrong with it. */
export function readMarked(text: string): { mark: string } | { wrong: string } {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const [head = "", ...rest] = text.split(eol);
  const found = /^\ufeff?(\d+) lines (\[[a-z0-9]+\])$/.exec(head);
  const [, count, mark = ""] = found ?? [];
  if (count === undefined)
    return { wrong: `the first line is ${JSON.stringify(head.slice(0, 80))}` };
  if (rest.pop() !== "") return { wrong: "the last line is cut" };
  if (rest.length !== Number(count)) return { wrong: `${rest.length} lines of ${count}` };
  const odd = rest.findIndex((line, index) => line !== `${index} ${mark} é漢`);
  if (odd === -1) return { mark };
  return { wrong: `line ${odd + 2} of ${mark} is ${JSON.stringify(rest[odd]?.slice(0, 80))}` };
}

/** Every mark in a text, in order. */
export function marksIn(text: string): string[] {
  return text.match(/\[[a-z0-9]+\]/g) ?? [];
}
