import { DIFF_CONTEXT } from "../limits.js";
import type { Change } from "./lineDiff.js";
import type { Pace } from "./pace.js";

export interface HunkSource {
  /** Lines that go first. */
  readonly notes: readonly string[];
  readonly changes: readonly Change[];
  readonly old: Uint32Array;
  readonly now: Uint32Array;
  /** The text of a line by its number, ready to show, and whether it ends in LF. */
  readonly line: (id: number) => { text: string; ended: boolean };
  readonly maxBytes: number;
  readonly maxLines: number;
  readonly pace: Pace;
}

/** Changes whose context touches, in one hunk. */
function group(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let last: Change | undefined;
  for (const change of changes) {
    const gap =
      last === undefined ? Number.POSITIVE_INFINITY : change.old - last.old - last.removed;
    if (gap <= 2 * DIFF_CONTEXT) groups.at(-1)?.push(change);
    else groups.push([change]);
    last = change;
  }
  return groups;
}

function range(start: number, count: number): string {
  // By the convention of the format an empty range names the line before it.
  return `${count === 0 ? start : start + 1},${count}`;
}

/** The lines of the diff, one after the other, made only as far as someone reads. */
function* hunkLines(source: HunkSource): Generator<string> {
  yield* source.notes;
  const marked = function* (mark: string, ids: Uint32Array, from: number, to: number) {
    for (let i = from; i < to; i += 1) {
      const { text, ended } = source.line(ids[i] ?? 0);
      yield mark + text;
      if (!ended) yield "\\ No newline at end of file";
    }
  };
  for (const changes of group(source.changes)) {
    const first = changes[0];
    const last = changes.at(-1);
    if (first === undefined || last === undefined) continue;
    const before = Math.min(DIFF_CONTEXT, first.old);
    const lastOld = last.old + last.removed;
    const after = Math.min(DIFF_CONTEXT, source.old.length - lastOld);
    const oldStart = first.old - before;
    const nowStart = first.now - before;
    const oldCount = lastOld + after - oldStart;
    const nowCount = last.now + last.added + after - nowStart;
    yield `@@ -${range(oldStart, oldCount)} +${range(nowStart, nowCount)} @@`;
    let at = oldStart;
    for (const change of changes) {
      yield* marked(" ", source.old, at, change.old);
      yield* marked("-", source.old, change.old, change.old + change.removed);
      yield* marked("+", source.now, change.now, change.now + change.added);
      at = change.old + change.removed;
    }
    yield* marked(" ", source.old, at, lastOld + after);
  }
}

/** The text of a unified diff: whole up to `maxBytes` (of UTF-8), else its first `maxLines` lines. */
export async function renderHunks(source: HunkSource): Promise<{ text: string; cut: boolean }> {
  const lines: string[] = [];
  let bytes = 0;
  for (const line of hunkLines(source)) {
    // Over the size only the first lines count, so nothing after them needs to be made.
    if (bytes > source.maxBytes && lines.length >= source.maxLines) {
      return { text: `${lines.slice(0, source.maxLines).join("\n")}\n`, cut: true };
    }
    lines.push(line);
    bytes += Buffer.byteLength(line) + 1;
    if (source.pace.due) await source.pace.rest();
  }
  if (lines.length === 0) return { text: "", cut: false };
  if (bytes > source.maxBytes && lines.length > source.maxLines) {
    return { text: `${lines.slice(0, source.maxLines).join("\n")}\n`, cut: true };
  }
  return { text: `${lines.join("\n")}\n`, cut: false };
}
