import assert from "node:assert/strict";
import { systemProgram, windowsProgram } from "../../../src/core/workspace/program.js";

describe("the program of a bare name on Windows", () => {
  const there = new Set([
    "git.exe",
    "C:\\ws\\git.exe",
    "\\git.exe",
    "bin\\git.exe",
    "C:\\Program Files\\Git\\git.exe",
    "D:\\tools\\git.exe",
    "D:\\tools\\node.com",
    "D:\\tools\\node.exe",
    "D:\\tools\\a.b",
    "\\\\server\\share\\far.exe",
  ]);
  const find = (program: string, PATH: string): string | undefined =>
    windowsProgram(program, { Path: PATH }, (file) => there.has(file));

  it("is looked for in PATH's full folders alone, and never in the current one", () => {
    const inOrder = '"C:\\Program Files\\Git";D:\\tools';
    assert.equal(find("git", inOrder), "C:\\Program Files\\Git\\git.exe");
    assert.equal(find("git", `;.;bin;\\;C:;${inOrder}`), "C:\\Program Files\\Git\\git.exe");
    assert.equal(find("git", ".;bin;"), undefined);
    assert.equal(find("git", ""), undefined);
    assert.equal(
      windowsProgram("git", {}, () => true),
      undefined,
    );
    assert.equal(find("far", "\\\\server\\share"), "\\\\server\\share\\far.exe");
  });

  it("has the endings that Windows itself tries, in their order", () => {
    assert.equal(find("node", "D:\\tools"), "D:\\tools\\node.com");
    assert.equal(find("node.exe", "D:\\tools"), "D:\\tools\\node.exe");
    assert.equal(find("a.b", "D:\\tools"), "D:\\tools\\a.b");
    assert.equal(find("a", "D:\\tools"), undefined);
  });

  it("is as given where it is named by a path", () => {
    for (const program of [".\\git.exe", "bin/git", "C:\\ws\\git.exe"]) {
      assert.equal(find(program, "D:\\tools"), program);
    }
  });

  it("of Windows itself is where Windows is", () => {
    assert.equal(
      systemProgram("taskkill.exe", { systemroot: "E:\\Win" }),
      "E:\\Win\\System32\\taskkill.exe",
    );
    assert.equal(systemProgram("taskkill.exe", {}), "C:\\Windows\\System32\\taskkill.exe");
  });
});
