import assert from "node:assert/strict";
import { isWithin, partsOf, refuseName } from "../../../src/core/workspace/names.js";

describe("the spelling of a path on Windows", () => {
  const cases: [string, RegExp | undefined][] = [
    ["src\\a.txt", undefined],
    ["C:\\work\\a.txt", undefined],
    ["c:/work/a.txt", undefined],
    ["..\\a.txt", undefined],
    [".git\\config", undefined],
    ["console.txt", undefined],
    ["com10.txt", undefined],
    ["CON", /"CON" is the name of a Windows device/],
    ["src\\nul", /"nul" is the name of a Windows device/],
    ["a/Aux.txt", /"Aux\.txt" is the name of a Windows device/],
    ["COM1", /Windows device/],
    ["lpt9.log", /Windows device/],
    ["COM\u00b9", /Windows device/],
    ["CONIN$", /Windows device/],
    ["nul .txt", /Windows device/],
    ["NUL:", /Windows device/],
    ["a.txt:x", /"a\.txt:x" names a stream/],
    ["a.txt::$DATA", /names a stream/],
    [".git::$INDEX_ALLOCATION\\config", /names a stream/],
    ["C:a.txt", /drive without a full path/],
    ["\\\\server\\share\\x", /UNC/],
    ["//server/share/x", /UNC/],
    ["\\\\?\\C:\\x", /UNC/],
    ["\\\\.\\pipe\\x", /UNC/],
    [".git.\\config", /dot or a space/],
    ["a.txt ", /dot or a space/],
    ["~\\x", /not expanded/],
    ["a\0", /NUL/],
    ["", /empty/],
  ];
  for (const [given, reason] of cases) {
    it(`${JSON.stringify(given)} is ${reason === undefined ? "taken" : `refused: ${reason.source}`}`, () => {
      const refused = refuseName(given, "win32");
      if (reason === undefined) assert.equal(refused, undefined);
      else assert.match(refused ?? "", reason);
    });
  }

  it("means nothing elsewhere, where these are ordinary names", () => {
    for (const given of ["CON", "a.txt:x", "C:a.txt", "\\\\server\\x", "a.txt "]) {
      assert.equal(refuseName(given, "linux"), undefined);
      assert.equal(refuseName(given, "darwin"), undefined);
    }
  });

  it("may have 32,768 characters, and not one more", () => {
    const longest = "d/".repeat(16 * 1024);
    for (const platform of ["linux", "win32"] as const) {
      assert.equal(refuseName(longest, platform), undefined);
      assert.match(
        refuseName(`${longest}d`, platform) ?? "",
        /^it has 32769 characters, and at most 32768 are looked at/,
      );
    }
  });

  it("splits at both slashes there and at one elsewhere", () => {
    assert.deepEqual(partsOf("a\\b/.//c", "win32"), ["a", "b", "c"]);
    assert.deepEqual(partsOf("a\\b/.//c", "linux"), ["a\\b", "c"]);
  });
});

describe("being under a root", () => {
  it("is no matter of a common beginning", () => {
    assert.equal(isWithin("/ws", "/ws", "linux"), true);
    assert.equal(isWithin("/ws", "/ws/a", "linux"), true);
    assert.equal(isWithin("/ws", "/ws-evil", "linux"), false);
    assert.equal(isWithin("/ws", "/w", "linux"), false);
    assert.equal(isWithin("/", "/a", "linux"), true);
    assert.equal(isWithin("C:\\ws", "C:\\ws\\a", "win32"), true);
    assert.equal(isWithin("C:\\ws", "C:\\ws-evil\\a", "win32"), false);
    assert.equal(isWithin("C:\\", "C:\\a", "win32"), true);
  });
});
