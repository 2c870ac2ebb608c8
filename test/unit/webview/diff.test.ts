import { deepStrictEqual } from "node:assert/strict";
import { unifiedDiff } from "../../../src/core/gate/diff.js";
import { diffLines } from "../../../src/webview/format.js";

describe("a diff in the panel", () => {
  it("shows changed lines that look like the header of a file", async () => {
    const before = Buffer.from("keep\n-- old\n");
    const after = Buffer.from("keep\n++ new\n");
    const { text } = await unifiedDiff(before, after);
    deepStrictEqual(diffLines(text).slice(-3), [" keep", "--- old", "+++ new"]);
  });
});
