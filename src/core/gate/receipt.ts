import { unifiedDiff } from "./diff.js";
import { type Change, compareLines } from "./lineDiff.js";
import { LineTable, splitBytes } from "./lines.js";
import { Pace } from "./pace.js";

/** What became of one change of a proposal in the text that was edited. */
export interface FateOfChange {
  /** Its lines in the file as it was, from 0; `removed: 0` adds lines before line `old`. */
  readonly old: number;
  readonly removed: number;
  readonly fate: "kept" | "dropped" | "edited";
}

/** Dropped changes that a receipt names by their lines; of more it says how many. */
const NAMED = 20;

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
): Promise<FateOfChange[]> {
  const pace = new Pace();
  const table = new LineTable();
  const old = (await splitBytes(before ?? new Uint8Array(), table, pace)).ids;
  const model = (await splitBytes(proposed, table, pace)).ids;
  const own = (await splitBytes(edited, table, pace)).ids;
  const wanted = await compareLines(old, model, table.size, pace);
  const made = await compareLines(old, own, table.size, pace);
  let first = 0;
  return wanted.map((change) => {
    // Both lists are in order, so what ends before this change touches no later one either.
    while (first < made.length) {
      const one = made[first];
      if (one === undefined || one.old + one.removed >= change.old) break;
      first += 1;
    }
    const near: Change[] = [];
    for (let i = first; i < made.length; i += 1) {
      const one = made[i];
      if (one === undefined || one.old > change.old + change.removed) break;
      if (touch(one, change)) near.push(one);
    }
    const { removed, added } = change;
    const kept = near.some(
      (one) =>
        one.old === change.old &&
        one.removed === removed &&
        one.added === added &&
        sameLines(model, change.now, own, one.now, added),
    );
    const fate = kept ? "kept" : near.length === 0 ? "dropped" : "edited";
    return { old: change.old, removed, fate };
  });
}

function place({ old, removed }: FateOfChange): string {
  if (removed === 0) return old === 0 ? "before line 1" : `after line ${old}`;
  return removed === 1 ? `line ${old + 1}` : `lines ${old + 1}-${old + removed}`;
}

function whatBecame(fates: readonly FateOfChange[]): string {
  const count = (fate: FateOfChange["fate"]) => fates.filter((one) => one.fate === fate).length;
  const of = fates.length === 1 ? "Of your 1 change" : `Of your ${fates.length} changes`;
  const sums = `${of}, ${count("kept")} written as proposed, ${count("dropped")} dropped, ${count("edited")} edited.`;
  const dropped = fates.filter(({ fate }) => fate === "dropped").map(place);
  if (dropped.length === 0) return sums;
  const more = dropped.length > NAMED ? ` and ${dropped.length - NAMED} more` : "";
  return `${sums} Dropped, by the file as it was: ${dropped.slice(0, NAMED).join(", ")}${more}.`;
}

/**
 * What the model is told of an edit: what became of each change, and a unified diff from what it
 * proposed to what is written, within the limits of a card's diff.
 */
export async function receiptOf(
  before: Uint8Array | null,
  proposed: Uint8Array,
  written: Uint8Array,
): Promise<string> {
  const diff = await unifiedDiff(proposed, written);
  const fates = await fatesOf(before, proposed, written);
  const cut = diff.cut
    ? `\n(Only the first lines of this diff are here: ${diff.added} lines added and ${diff.removed} removed in all. Read the file for the rest.)`
    : "";
  return `The user edited your proposal before approving it: the file holds the user's version, not yours. ${whatBecame(fates)} From your proposal (-) to what was written (+):\n${diff.text.trimEnd()}${cut}\nGo on from the file as it is; do not put back what the user dropped or edited.`;
}
