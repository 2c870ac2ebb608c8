/** Which rows to draw, and how much room to leave for the others. Pixels throughout. */
export interface Range {
  /** Index of the first row drawn, and of the first one after the last. */
  readonly from: number;
  readonly to: number;
  readonly above: number;
  readonly below: number;
}

/** The rows within half a view's height of what is seen: enough to scroll on, little enough to draw at once. */
export function windowOf(heights: readonly number[], top: number, height: number): Range {
  const first = Math.max(0, top - height / 2);
  const last = top + 1.5 * height;
  let at = 0;
  let from = 0;
  while (from < heights.length && at + (heights[from] ?? 0) < first) at += heights[from++] ?? 0;
  const above = at;
  let to = from;
  while (to < heights.length && at < last) at += heights[to++] ?? 0;
  let below = 0;
  for (let i = to; i < heights.length; i++) below += heights[i] ?? 0;
  return { from, to, above, below };
}
