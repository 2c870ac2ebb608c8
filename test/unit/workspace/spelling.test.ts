import assert from "node:assert/strict";
import { mkdir, rename, symlink } from "node:fs/promises";
import { listDirectory } from "../../../src/core/workspace/list.js";
import { readSnapshot, readWindow } from "../../../src/core/workspace/read.js";
import { searchFiles } from "../../../src/core/workspace/search.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { harvest, type Tree } from "../../support/tree.js";
import { type Ground, ground, located, readPermit, writePermit } from "./setup.js";

const signal = new AbortController().signal;
/** The workspace is `ws`; this one is another directory on a disk that tells case apart. */
const TWIN = "WS";

/** Turns `d` into a link to the directory of the same name in the twin, once. */
function swapOnce(tree: Ground): () => Promise<void> {
  let swapped = false;
  return async () => {
    if (swapped) return;
    swapped = true;
    await rename(tree.at("ws", "d"), tree.at("ws", "moved"));
    await symlink(tree.at(TWIN, "d"), tree.at("ws", "d"));
  };
}

function make(d: Tree = { f: "inside" }): Promise<Ground> {
  return ground({ d }, { [TWIN]: { d: { f: "needle SECRET" } } });
}

describe("a directory beside the workspace whose name differs in case alone", () => {
  it("is not read, listed or searched through a link that appeared in between", async () => {
    let tree = await make();
    const read = await readWindow(
      await readPermit(tree.workspace, "d/f"),
      tree.workspace,
      { offset: 0 },
      { moments: { beforeOpen: swapOnce(tree) } },
    );
    assert.deepEqual(read, new FileChanged(tree.at("ws", "d", "f")));

    tree = await make();
    const snapshot = await readSnapshot(
      tree.workspace,
      await located(tree.workspace, "d/f"),
      1_000,
      { beforeOpen: swapOnce(tree) },
    );
    assert.ok(snapshot instanceof ToolError);
    assert.match(snapshot.message, /leads elsewhere/);

    tree = await make({ e: { f: "inside" } });
    await mkdir(tree.at(TWIN, "d", "e"));
    const list = await listDirectory(await readPermit(tree.workspace, "d/e"), tree.workspace, {
      beforeOpen: swapOnce(tree),
    });
    assert.deepEqual(list, new FileChanged(tree.at("ws", "d", "e")));

    tree = await make();
    const found = await searchFiles(
      await readPermit(tree.workspace, "d/f"),
      tree.workspace,
      { pattern: "needle" },
      { signal, moments: { beforeOpen: swapOnce(tree) } },
    );
    assert.deepEqual(found, new FileChanged(tree.at("ws", "d", "f")));
  });

  it("is not written to through a link that appeared in between", async () => {
    for (const moment of ["beforeOpen", "beforeRename"] as const) {
      for (const given of ["d/e/f", "d/e/new/f"]) {
        const tree = await make({ e: {} });
        await mkdir(tree.at(TWIN, "d", "e"));
        const permit = await writePermit(tree.workspace, given, null, "new");
        const outcome = await writeBytes(tree.workspace, permit, Buffer.from("new"), {
          [moment]: swapOnce(tree),
        });
        assert.deepEqual(outcome, new FileChanged(tree.at("ws", ...given.split("/"))), given);
        assert.deepEqual(await harvest(tree.at(TWIN)), { d: { e: {}, f: "needle SECRET" } });
      }
    }
  });
});
