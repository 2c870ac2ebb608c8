import { diffArrays } from "diff";
import { DIFF_TIMEOUT_MS } from "../limits.js";
import type { Pace } from "./pace.js";

/** Lines `[old, old + removed)` of the one file give way to `[now, now + added)` of the other. */
export interface Change {
  readonly old: number;
  readonly removed: number;
  readonly now: number;
  readonly added: number;
}

/** From this distance on a fine diff never ends within its time, so it is not begun. */
const HOPELESS_EDITS = 4_000;
/** Comparisons between two looks at the clock. */
const CLOCK_EVERY = 512;

class OutOfTime extends Error {}

/** A stretch of both files that may differ: `[old, oldEnd)` and `[now, nowEnd)`. */
interface Stretch {
  readonly old: number;
  readonly oldEnd: number;
  readonly now: number;
  readonly nowEnd: number;
}

/** The stretch less what both files have in common at its head and its tail. */
function trim(a: Uint32Array, b: Uint32Array, whole: Stretch): Stretch {
  let { old, oldEnd, now, nowEnd } = whole;
  while (old < oldEnd && now < nowEnd && a[old] === b[now]) {
    old += 1;
    now += 1;
  }
  while (old < oldEnd && now < nowEnd && a[oldEnd - 1] === b[nowEnd - 1]) {
    oldEnd -= 1;
    nowEnd -= 1;
  }
  return { old, oldEnd, now, nowEnd };
}

/** How often each line stands in a stretch of one file. */
function countsOf(lines: Uint32Array, from: number, to: number, different: number): Int32Array {
  const counts = new Int32Array(different);
  for (let i = from; i < to; i += 1) {
    const id = lines[i] ?? 0;
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

/** Places of the lines of one file that the other has as well: no diff can keep any other. */
interface Shared {
  readonly old: readonly number[];
  readonly now: readonly number[];
  /** Fewest of them that any diff has to add and remove. */
  readonly edits: number;
}

function sharedLines(a: Uint32Array, b: Uint32Array, part: Stretch, different: number): Shared {
  const inOld = countsOf(a, part.old, part.oldEnd, different);
  const inNow = countsOf(b, part.now, part.nowEnd, different);
  const places = (lines: Uint32Array, from: number, to: number, others: Int32Array): number[] => {
    const found: number[] = [];
    for (let i = from; i < to; i += 1) if ((others[lines[i] ?? 0] ?? 0) > 0) found.push(i);
    return found;
  };
  let edits = 0;
  for (let id = 0; id < different; id += 1) {
    const [old, now] = [inOld[id] ?? 0, inNow[id] ?? 0];
    if (old > 0 && now > 0) edits += Math.abs(old - now);
  }
  return {
    old: places(a, part.old, part.oldEnd, inNow),
    now: places(b, part.now, part.nowEnd, inOld),
    edits,
  };
}

/** The fewest changes, by the `diff` package, or undefined where that takes too long. */
function fineChanges(
  a: Uint32Array,
  b: Uint32Array,
  part: Stretch,
  shared: Shared,
): Change[] | undefined {
  const deadline = performance.now() + DIFF_TIMEOUT_MS;
  let comparisons = 0;
  // The package looks at the clock only between rounds, and a round may be long.
  const comparator = (left: number, right: number): boolean => {
    comparisons += 1;
    if (comparisons % CLOCK_EVERY === 0 && performance.now() > deadline) throw new OutOfTime();
    return left === right;
  };
  try {
    const runs = diffArrays(
      shared.old.map((place) => a[place] ?? 0),
      shared.now.map((place) => b[place] ?? 0),
      { timeout: DIFF_TIMEOUT_MS, maxEditLength: HOPELESS_EDITS, comparator },
    );
    if (runs === undefined) return undefined;
    const changes: Change[] = [];
    let { old, now } = part;
    /** What lies before the next line that is kept has changed. */
    const keep = (oldPlace: number, nowPlace: number): void => {
      const [removed, added] = [oldPlace - old, nowPlace - now];
      if (removed + added > 0) changes.push({ old, removed, now, added });
      [old, now] = [oldPlace + 1, nowPlace + 1];
    };
    let [i, j] = [0, 0];
    for (const run of runs) {
      if (run.removed) i += run.count;
      else if (run.added) j += run.count;
      else
        for (let kept = 0; kept < run.count; kept += 1)
          keep(shared.old[i++] ?? part.oldEnd, shared.now[j++] ?? part.nowEnd);
    }
    keep(part.oldEnd, part.nowEnd);
    return changes;
  } catch (error) {
    if (error instanceof OutOfTime) return undefined;
    throw error;
  }
}

/** Lines that each file has once, as pairs of places, in the order of the first file. */
function anchors(
  a: Uint32Array,
  b: Uint32Array,
  part: Stretch,
  different: number,
): { old: number; now: number }[] {
  const NONE = 0;
  const MANY = -1;
  const placeOf = (lines: Uint32Array, from: number, to: number): Int32Array => {
    const places = new Int32Array(different);
    for (let i = from; i < to; i += 1) {
      const id = lines[i] ?? 0;
      places[id] = places[id] === NONE ? i + 1 : MANY;
    }
    return places;
  };
  const inOld = placeOf(a, part.old, part.oldEnd);
  const inNow = placeOf(b, part.now, part.nowEnd);
  const pairs: { old: number; now: number }[] = [];
  for (let i = part.old; i < part.oldEnd; i += 1) {
    const id = a[i] ?? 0;
    const now = inNow[id] ?? NONE;
    if ((inOld[id] ?? NONE) > 0 && now > 0) pairs.push({ old: i, now: now - 1 });
  }
  return pairs;
}

/** The longest run of pairs that stand in the same order in both files. */
function longestInOrder(
  pairs: readonly { old: number; now: number }[],
): { old: number; now: number }[] {
  const tails: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  pairs.forEach((pair, index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.now ?? 0) < pair.now) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  });
  const chosen: { old: number; now: number }[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) chosen.push(pair);
  }
  return chosen.reverse();
}

/** Right but coarser: what lies between lines that both files have once is one change. */
function coarseChanges(a: Uint32Array, b: Uint32Array, part: Stretch, different: number): Change[] {
  const changes: Change[] = [];
  let { old, now } = part;
  const end = { old: part.oldEnd, now: part.nowEnd };
  for (const anchor of [...longestInOrder(anchors(a, b, part, different)), end]) {
    // Grown backwards and forwards, an anchor takes its equal neighbours along.
    if (anchor.old >= old && anchor.now >= now) {
      const gap = trim(a, b, { old, oldEnd: anchor.old, now, nowEnd: anchor.now });
      const removed = gap.oldEnd - gap.old;
      const added = gap.nowEnd - gap.now;
      if (removed + added > 0) changes.push({ old: gap.old, removed, now: gap.now, added });
      old = anchor.old;
      now = anchor.now;
    }
  }
  return changes;
}

/**
 * What has to change to turn the lines `a` into `b`, in order. `different` is one more than the
 * largest line number. Fine where that takes under `DIFF_TIMEOUT_MS`, else coarser, always right.
 */
export async function compareLines(
  a: Uint32Array,
  b: Uint32Array,
  different: number,
  pace: Pace,
): Promise<Change[]> {
  const part = trim(a, b, { old: 0, oldEnd: a.length, now: 0, nowEnd: b.length });
  const removed = part.oldEnd - part.old;
  const added = part.nowEnd - part.now;
  if (removed === 0 && added === 0) return [];
  if (removed === 0 || added === 0) return [{ old: part.old, removed, now: part.now, added }];
  const shared = sharedLines(a, b, part, different);
  if (shared.edits <= HOPELESS_EDITS) {
    await pace.rest();
    const fine = fineChanges(a, b, part, shared);
    await pace.rest();
    if (fine !== undefined) return fine;
  }
  await pace.rest();
  return coarseChanges(a, b, part, different);
}
