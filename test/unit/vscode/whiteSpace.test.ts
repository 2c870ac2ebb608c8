import assert from "node:assert/strict";
import { fatesOf, splitLines } from "../../../src/core/gate/fates.js";
import { whiteSpaceChanges } from "../../../src/vscode/whiteSpace.js";

async function counted(before: string, proposed: string, now = proposed): Promise<number> {
  const [a, b, c] = [Buffer.from(before), Buffer.from(proposed), Buffer.from(now)];
  const fates = await fatesOf(a, b, c);
  return whiteSpaceChanges(before, now, {
    fates,
    before: splitLines(before),
    lines: splitLines(now),
  });
}

describe("changes that a diff editor does not mark", () => {
  const before = "if x:\n    a()\n    b()\nc()\nd()\n";

  it("are those of an indentation or of the end of a line", async () => {
    assert.equal(await counted(before, before.replace("    b()", "b()")), 1);
    assert.equal(await counted(before, before.replace("c()\n", "c()  \t\n")), 1);
    assert.equal(await counted("a\nb\nc\n", " a\nb\nc \n"), 2);
    assert.equal(await counted("a\nb", "a\nb\n"), 1);
  });

  it("are no others, nor what was dropped", async () => {
    assert.equal(await counted(before, before.replace("b()", "e()")), 0);
    assert.equal(await counted(before, before.replace("    b()\n", "b()\ne()\n")), 0);
    assert.equal(await counted(before, before.replace("c()\n", "\nc()\n")), 0);
    assert.equal(await counted(before, before.replace("    b()", "b()"), before), 0);
    assert.equal(await counted(before, before.replace("a()", "a( )")), 0);
  });

  it("are one where line ends change throughout, and none where more does", () => {
    assert.equal(whiteSpaceChanges("a\nb\n", "a\r\nb\r\n", undefined), 1);
    assert.equal(whiteSpaceChanges("a\nb\n", "a\r\nc\r\n", undefined), 0);
  });
});
