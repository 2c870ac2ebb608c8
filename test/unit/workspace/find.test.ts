import assert from "node:assert/strict";
import fc from "fast-check";
import { indexesOf } from "../../../src/core/workspace/find.js";
import { runs } from "./setup.js";

/** What `indexesOf` does, the plain way. */
function plainly(text: string, wanted: string, step: number): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) found.push(at);
  return found;
}

describe("finding a text", () => {
  it("finds what indexOf finds, in texts that nearly match everywhere", () => {
    const piece = fc.constantFrom("a", "aa", "ab", "b", "aaaaaaaaaaaaaaaa", "abababababababab");
    const text = (maxLength: number) =>
      fc.array(piece, { minLength: 1, maxLength }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text(40), text(6), (whole, wanted) => {
        assert.deepEqual(indexesOf(whole, wanted), plainly(whole, wanted, wanted.length));
        assert.deepEqual(indexesOf(whole, wanted, true), plainly(whole, wanted, 1));
      }),
      { numRuns: runs(500) },
    );
  });
});
