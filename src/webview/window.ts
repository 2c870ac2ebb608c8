/** Which rows to draw, and how much room to leave for the others. Pixels throughout. */
export interface Range {
  /** Index of the first row drawn, and of the first one after the last. */
  readonly from: number;
  readonly to: number;
  readonly above: number;
  readonly below: number;
  /** There is room for more rows than `most`. */
  readonly clipped: boolean;
}

/**
 * The rows within half a view's height of what is seen: enough to scroll on, little enough to draw at
 * once. No more than `most` of them: those that are seen go before those around, the lower before
 * the upper.
 */
export function windowOf(
  heights: readonly number[],
  top: number,
  height: number,
  most = Number.POSITIVE_INFINITY,
): Range {
  const first = Math.max(0, top - height / 2);
  const last = top + 1.5 * height;
  let at = 0;
  let from = 0;
  while (from < heights.length && at + (heights[from] ?? 0) < first) at += heights[from++] ?? 0;
  let to = from;
  // The first row after those that are seen.
  let seen = from;
  while (to < heights.length && at < last) {
    at += heights[to++] ?? 0;
    if (at - (heights[to - 1] ?? 0) < top + height) seen = to;
  }
  const clipped = to - from > most;
  if (clipped) {
    to = Math.min(to, Math.max(seen, from + most));
    from = Math.max(from, to - most);
  }
  const sum = (rows: readonly number[]) => rows.reduce((total, each) => total + each, 0);
  return { from, to, above: sum(heights.slice(0, from)), below: sum(heights.slice(to)), clipped };
}
