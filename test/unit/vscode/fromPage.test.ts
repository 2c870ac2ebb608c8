import assert from "node:assert/strict";
import { resolve } from "node:path";
import { fileToOpen, isElsewhere } from "../../../src/vscode/fromPage.js";

describe("what a page names", () => {
  const workspace = resolve("/work/project");
  const outside = resolve("/etc/hosts");
  const open = (given: string) => fileToOpen(workspace, given, (file) => file === outside);

  it("is a file of the session's folder, or one that a card of the session named", () => {
    assert.equal(open("src/a.ts"), resolve(workspace, "src/a.ts"));
    assert.equal(open("src/../a.ts"), resolve(workspace, "a.ts"));
    assert.equal(open("..a/...b"), resolve(workspace, "..a/...b"));
    assert.equal(open(resolve(workspace, "a.ts")), resolve(workspace, "a.ts"));
    assert.equal(open(outside), outside);
  });

  for (const given of [
    "..",
    "../project-evil/a.ts",
    "src/../../a.ts",
    "/etc/passwd",
    "/etc/hosts/../passwd",
    "/work/project-evil/a.ts",
    "//server/share/a.ts",
    "\\\\server\\share\\a.ts",
    "/\\server\\share",
  ]) {
    it(`is not opened: ${given}`, () => {
      assert.equal(open(given), undefined);
    });
  }

  it("is the card of the session that it says, or none that is open", () => {
    type Found = ReturnType<Parameters<typeof isElsewhere>[0]["findCard"]>;
    const known = { opened: { live: { id: "s1" } } } as unknown as Found;
    const sessions = { findCard: (card: string) => (card === "c1" ? known : undefined) };
    assert.equal(isElsewhere(sessions, { session: "s1", card: "c1" }), false);
    assert.equal(isElsewhere(sessions, { session: "s2", card: "c1" }), true);
    assert.equal(isElsewhere(sessions, { session: "s2", card: "c2" }), false);
  });
});
