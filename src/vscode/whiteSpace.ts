import type { LineRange } from "../core/gate/fates.js";
import type { Changes } from "./changes.js";

function bare(lines: readonly string[]): string {
  // Each with its end, so that a blank line is not the same as none.
  return lines.map((line) => `${line.trim()}\n`).join("");
}

function take(lines: readonly string[], { at, count }: LineRange): readonly string[] {
  return lines.slice(at, at + count);
}

/**
 * How many changes are of white space at the ends of lines alone (indentation, line ends, a BOM):
 * VS Code's diff editor marks none of them where it ignores that, as it does by default. `before`
 * and `now` are two texts whose bytes differ; `changes` is undefined where they cannot be counted.
 */
export function whiteSpaceChanges(
  before: string,
  now: string,
  changes: Pick<Changes, "fates" | "before" | "lines"> | undefined,
): number {
  if (changes === undefined) return bare(before.split("\n")) === bare(now.split("\n")) ? 1 : 0;
  return changes.fates.filter(
    ({ fate, instead, now: range }) =>
      fate !== "dropped" &&
      bare(take(changes.before, instead)) === bare(take(changes.lines, range)),
  ).length;
}
