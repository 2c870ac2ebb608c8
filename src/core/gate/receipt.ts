import { unifiedDiff } from "./diff.js";
import { type ChangeFate, fatesOf } from "./fates.js";

/** Dropped changes that a receipt names by their lines; of more it says how many. */
const NAMED = 20;

function place({ old: { at, count } }: ChangeFate): string {
  if (count === 0) return at === 0 ? "before line 1" : `after line ${at}`;
  return count === 1 ? `line ${at + 1}` : `lines ${at + 1}-${at + count}`;
}

function whatBecame(fates: readonly ChangeFate[]): string {
  const count = (fate: ChangeFate["fate"]) => fates.filter((one) => one.fate === fate).length;
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
