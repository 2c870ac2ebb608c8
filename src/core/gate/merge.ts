import { type Change, compareLines } from "./lineDiff.js";
import { Pace } from "./pace.js";

const LF = 0x0a;

/** A file's lines, their ends included, byte for byte. */
function linesOf(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let from = 0; from < buffer.length; ) {
    const end = buffer.indexOf(LF, from);
    const next = end === -1 ? buffer.length : end + 1;
    lines.push(buffer.toString("latin1", from, next));
    from = next;
  }
  return lines;
}

/** Whether two stretches of the same file share a line, or touch. */
function touch(
  a: { readonly old: number; readonly removed: number },
  b: { readonly old: number; readonly removed: number },
): boolean {
  return a.old <= b.old + b.removed && b.old <= a.old + a.removed;
}

/** Whether any of two lists of changes, each in order, touch; each change is looked at once or twice. */
export function anyTouch(mine: readonly Change[], theirs: readonly Change[]): boolean {
  for (let i = 0, j = 0; ; ) {
    const [a, b] = [mine[i], theirs[j]];
    if (a === undefined || b === undefined) return false;
    if (touch(a, b)) return true;
    if (a.old < b.old) i += 1;
    else j += 1;
  }
}

/**
 * `one` and `other`, both made from `base`, with the changes of both; undefined where their changes
 * share a line or stand side by side, or where one holds a NUL byte: such bytes are no lines.
 */
export async function mergeLines(
  base: Uint8Array,
  one: Uint8Array,
  other: Uint8Array,
): Promise<Uint8Array | undefined> {
  if ([base, one, other].some((bytes) => bytes.includes(0))) return undefined;
  const numbers = new Map<string, number>();
  const number = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const [was, first, second] = [linesOf(base), linesOf(one), linesOf(other)];
  const [wasIds, firstIds, secondIds] = [was, first, second].map((lines) =>
    Uint32Array.from(lines, number),
  );
  if (wasIds === undefined || firstIds === undefined || secondIds === undefined) return undefined;
  const pace = new Pace();
  const mine = await compareLines(wasIds, firstIds, numbers.size, pace);
  const theirs = await compareLines(wasIds, secondIds, numbers.size, pace);
  if (anyTouch(mine, theirs)) return undefined;
  const changes = [
    ...mine.map((change) => ({ ...change, lines: first })),
    ...theirs.map((change) => ({ ...change, lines: second })),
  ].sort((a, b) => a.old - b.old);
  const merged: string[] = [];
  let at = 0;
  for (const { old, removed, now, added, lines } of changes) {
    for (; at < old; at += 1) merged.push(was[at] ?? "");
    for (let i = now; i < now + added; i += 1) merged.push(lines[i] ?? "");
    at = old + removed;
  }
  for (; at < was.length; at += 1) merged.push(was[at] ?? "");
  return Buffer.from(merged.join(""), "latin1");
}
