import assert from "node:assert/strict";
import { parseAnsi } from "../../../src/webview/ansi.js";

describe("terminal output", () => {
  it("keeps its colours and weights", () => {
    assert.deepEqual(parseAnsi("a\u001b[31mred\u001b[1mbold\u001b[0m b"), [
      { text: "a", style: "" },
      { text: "red", style: "fg-red" },
      { text: "bold", style: "fg-red ansi-bold" },
      { text: " b", style: "" },
    ]);
  });

  it("takes bright, 256 and true colours for the nearest of the 16", () => {
    assert.deepEqual(parseAnsi("\u001b[92mx\u001b[38;5;196my\u001b[38;2;0;0;255mz\u001b[39m"), [
      { text: "x", style: "fg-bright-green" },
      { text: "y", style: "fg-red" },
      { text: "z", style: "fg-blue" },
    ]);
  });

  it("goes on after a colour in the same sequence", () => {
    assert.deepEqual(parseAnsi("\u001b[38;5;1;4mx"), [
      { text: "x", style: "fg-red ansi-underline" },
    ]);
  });

  it("leaves out what moves the cursor, sets the title or links", () => {
    const text =
      "a\u001b[2J\u001b[10;10Hb\u001b]0;title\u0007c\u001b]8;;command:evil\u001b\\d\u001b]8;;\u001b\\e\u001bMf\u001b7g";
    assert.deepEqual(parseAnsi(text), [{ text: "abcdefg", style: "" }]);
  });

  it("shows of a line that was written over what was written last", () => {
    assert.deepEqual(parseAnsi("10%\r50%\r100%\ndone\r\n"), [{ text: "100%\ndone\n", style: "" }]);
  });

  it("has no control characters left", () => {
    assert.deepEqual(parseAnsi("a\u0000b\u0008c\u009bd\u007fe\u001b"), [
      { text: "abcde", style: "" },
    ]);
  });

  it("is fast on a megabyte of escapes that never end", () => {
    const start = performance.now();
    assert.deepEqual(parseAnsi("\u001b]".repeat(250_000)), []);
    assert.deepEqual(parseAnsi("\u001b[".repeat(250_000)), []);
    parseAnsi("\r".repeat(500_000));
    parseAnsi("\u001b[31;".repeat(100_000));
    assert.ok(performance.now() - start < 2_000);
  });
});
