import assert from "node:assert/strict";
import path from "node:path";
import { findRipgrep, ripgrepCandidates } from "../../../src/core/workspace/ripgrep.js";
import { ToolError } from "../../../src/core/workspace/types.js";
import { file, type Planted, plantTree, type Tree } from "../../support/tree.js";

const RG = file("#!/bin/sh\n", 0o755);
const on = { platform: "linux", arch: "x64" } as const;

describe("ripgrep", () => {
  const trees: Planted[] = [];
  after(() => Promise.all(trees.map((tree) => tree.remove())));
  const plant = async (tree: Tree) => {
    const planted = await plantTree(tree);
    trees.push(planted);
    return planted;
  };

  it("is the setting's where there is one, and nothing else then", async () => {
    const tree = await plant({ rg: RG, text: "x", dir: {} });
    const appRoot = path.join(tree.base, "app");
    assert.equal(await findRipgrep({ setting: tree.at("rg"), appRoot }), tree.at("rg"));
    for (const name of ["none", "text", "dir"]) {
      const found = await findRipgrep({ setting: tree.at(name), packaged: import.meta.dirname });
      assert.match(
        found instanceof ToolError ? found.message : found,
        /which is no program\. Ask the user to correct/,
      );
    }
  });

  it("is found in the package of the platform, in this directory's node_modules or a parent's", async () => {
    const tree = await plant({
      node_modules: { "@vscode": { "ripgrep-linux-x64": { bin: { rg: RG } } } },
      dist: { deep: {} },
    });
    const rg = tree.at("node_modules/@vscode/ripgrep-linux-x64/bin/rg");
    assert.equal(await findRipgrep({ packaged: tree.at("dist", "deep"), ...on }), rg);
    assert.equal(await findRipgrep({ packaged: tree.base, setting: "", ...on }), rg);
  });

  it("is VS Code's own in each place it has been", async () => {
    for (const modules of ["node_modules", "node_modules.asar.unpacked"]) {
      for (const [name, bin, rg] of [
        ["ripgrep-universal", { "linux-x64": { rg: RG } }, "linux-x64/rg"],
        ["ripgrep", { rg: RG }, "rg"],
      ] as const) {
        const tree = await plant({ [modules]: { "@vscode": { [name]: { bin } } } });
        assert.equal(
          await findRipgrep({ appRoot: tree.base, ...on }),
          tree.at(modules, "@vscode", name, "bin", rg),
        );
      }
    }
  });

  it("has its own name on Windows", () => {
    assert.deepEqual(
      ripgrepCandidates({ appRoot: "/app", platform: "win32", arch: "arm64" }).slice(0, 2),
      [
        "/app/node_modules/@vscode/ripgrep-universal/bin/win32-arm64/rg.exe",
        "/app/node_modules/@vscode/ripgrep/bin/rg.exe",
      ],
    );
  });

  it("is an error that says what to do where it is nowhere", async () => {
    const found = await findRipgrep({ appRoot: "/none" });
    assert.match(
      found instanceof ToolError ? found.message : found,
      /Ask the user to install ripgrep and to name its path/,
    );
  });
});
