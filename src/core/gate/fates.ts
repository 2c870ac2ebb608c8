import { type Change, compareLines } from "./lineDiff.js";
import { LineTable, splitBytes } from "./lines.js";
import { Pace } from "./pace.js";

/** Lines `[at, at + count)`, from 0. */
export interface LineRange {
  readonly at: number;
  readonly count: number;
}

/** One change of a proposal, and what became of it in the text as it was edited. */
export interface ChangeFate {
  readonly fate: "kept" | "dropped" | "edited";
  /** What it takes away of the file as it was; `count: 0` adds lines before line `at`. */
  readonly old: LineRange;
  /** What it puts there, in the proposal. */
  readonly proposed: LineRange;
  /** Where it is in the edited text. */
  readonly now: LineRange;
  /** What stands in the file as it was for `now`: putting it there drops the change. */
  readonly instead: LineRange;
}

function touch(a: Change, b: Change): boolean {
  return a.old <= b.old + b.removed && b.old <= a.old + a.removed;
}

function sameLines(a: Uint32Array, from: number, b: Uint32Array, at: number, count: number) {
  for (let i = 0; i < count; i += 1) if (a[from + i] !== b[at + i]) return false;
  return true;
}

/** Each change of `proposed` against `before`, in order, and what `edited` made of it. */
export async function fatesOf(
  before: Uint8Array | null,
  proposed: Uint8Array,
  edited: Uint8Array,
): Promise<ChangeFate[]> {
  const pace = new Pace();
  const table = new LineTable();
  const old = (await splitBytes(before ?? new Uint8Array(), table, pace)).ids;
  const model = (await splitBytes(proposed, table, pace)).ids;
  const own = (await splitBytes(edited, table, pace)).ids;
  const wanted = await compareLines(old, model, table.size, pace);
  const made = await compareLines(old, own, table.size, pace);
  let first = 0;
  let shift = 0;
  return wanted.map((change): ChangeFate => {
    // Both lists are in order, so what ends before this change touches no later one either.
    for (; first < made.length; first += 1) {
      const one = made[first];
      if (one === undefined || one.old + one.removed >= change.old) break;
      shift += one.added - one.removed;
    }
    const near: Change[] = [];
    for (let i = first; i < made.length; i += 1) {
      const one = made[i];
      if (one === undefined || one.old > change.old + change.removed) break;
      if (touch(one, change)) near.push(one);
    }
    const range = { at: change.old, count: change.removed };
    const proposal = { at: change.now, count: change.added };
    const [start, end] = [near[0], near.at(-1)];
    if (start === undefined || end === undefined) {
      const now = { at: change.old + shift, count: change.removed };
      return { fate: "dropped", old: range, proposed: proposal, now, instead: range };
    }
    const kept =
      near.length === 1 &&
      start.old === change.old &&
      start.removed === change.removed &&
      start.added === change.added &&
      sameLines(model, change.now, own, start.now, change.added);
    return {
      fate: kept ? "kept" : "edited",
      old: range,
      proposed: proposal,
      now: { at: start.now, count: end.now + end.added - start.now },
      instead: { at: start.old, count: end.old + end.removed - start.old },
    };
  });
}

/** The lines of a text with their ends, as the ranges above count them. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}
