/** One line of the table. */
export interface Row {
  /** What was measured, in a few words. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Who does the same job, and what it costs there, in the same unit, in the same run. */
  readonly peer?: string;
  readonly peerValue?: number;
  /** What the value is to stay under. */
  readonly limit?: number;
  /** What was to be reached, where it is no limit. */
  readonly goal?: string;
  /** What the figure is made of, where that needs words. */
  readonly note?: string;
}

export type Report = (row: Row) => void;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Milliseconds that `act` takes. */
export async function timed(act: () => unknown): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

/** The medians of two jobs done in turns, so that whatever else the machine does falls on both. */
export async function inTurns(
  times: number,
  one: () => unknown,
  other: () => unknown,
): Promise<readonly [number, number]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let time = 0; time < times; time++) {
    theirs.push(await timed(other));
    ours.push(await timed(one));
  }
  return [median(ours), median(theirs)];
}

/** Milliseconds since 1970 with fractions: one clock for every process of this machine. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}
