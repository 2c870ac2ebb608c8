import assert from "node:assert/strict";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { runCommand } from "../../../src/core/workspace/command.js";
import { listDirectory } from "../../../src/core/workspace/list.js";
import { readWindow } from "../../../src/core/workspace/read.js";
import { searchFiles } from "../../../src/core/workspace/search.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { harvest, link } from "../../support/tree.js";
import { type Ground, ground, readPermit, runPermit, writePermit } from "./setup.js";

const signal = new AbortController().signal;

/** Turns `d` into a link that leads out, once. */
function swapOnce(tree: Ground): () => Promise<void> {
  let swapped = false;
  return async () => {
    if (swapped) return;
    swapped = true;
    await rename(tree.at("ws", "d"), tree.at("ws", "moved"));
    await symlink("../outside", tree.at("ws", "d"));
  };
}

describe("a system that has no /proc", () => {
  const own = Object.getOwnPropertyDescriptor(process, "platform");
  before(() => Object.defineProperty(process, "platform", { ...own, value: "darwin" }));
  after(() => Object.defineProperty(process, "platform", own ?? {}));

  it("reads, lists, searches and writes the same", async () => {
    const tree = await ground({ d: { f: "needle\n" }, to: link("d/f") });
    const read = await readWindow(await readPermit(tree.workspace, "to"), tree.workspace, {
      line: 1,
    });
    assert.deepEqual(read, { ok: true, text: "needle\n" });
    const list = await listDirectory(await readPermit(tree.workspace, "d"), tree.workspace);
    assert.deepEqual(list, { ok: true, text: "f (7 bytes)" });
    for (const where of [".", "d", "d/f"]) {
      const permit = await readPermit(tree.workspace, where);
      const found = await searchFiles(permit, tree.workspace, { pattern: "needle" }, { signal });
      assert.deepEqual(found, { ok: true, text: "d/f:1:needle" });
    }
    for (const [given, before] of [
      ["to", "needle\n"],
      ["new/g", null],
    ] as const) {
      const permit = await writePermit(tree.workspace, given, before, "new");
      assert.deepEqual(await writeBytes(tree.workspace, permit, Buffer.from("new")), {
        written: true,
      });
    }
    assert.deepEqual(await harvest(tree.at("ws")), {
      d: { f: "new" },
      new: { g: "new" },
      to: "-> d/f",
    });
  });

  it("reads nothing through a directory that became a link", async () => {
    const make = () => ground({ d: { f: "inside" } }, { outside: { f: "needle SECRET" } });
    let tree = await make();
    const changed = () => new FileChanged(tree.at("ws", "d", "f"));
    const moments = () => ({ beforeOpen: swapOnce(tree) });
    assert.deepEqual(
      await readWindow(
        await readPermit(tree.workspace, "d/f"),
        tree.workspace,
        { offset: 0 },
        { moments: moments() },
      ),
      changed(),
    );
    tree = await make();
    assert.deepEqual(
      await listDirectory(await readPermit(tree.workspace, "d"), tree.workspace, moments()),
      new FileChanged(tree.at("ws", "d")),
    );
    tree = await make();
    const run = { signal, moments: moments() };
    assert.deepEqual(
      await searchFiles(
        await readPermit(tree.workspace, "d/f"),
        tree.workspace,
        { pattern: "needle" },
        run,
      ),
      changed(),
    );
  });

  it("writes nothing through a directory that became a link", async () => {
    for (const moment of ["beforeOpen", "beforeRename"] as const) {
      for (const before of ["old", null]) {
        const tree = await ground({ d: before === null ? {} : { f: before } }, { outside: {} });
        const permit = await writePermit(tree.workspace, "d/f", before, "new");
        const outcome = await writeBytes(tree.workspace, permit, Buffer.from("new"), {
          [moment]: swapOnce(tree),
        });
        assert.deepEqual(outcome, new FileChanged(tree.at("ws", "d", "f")), `${moment} ${before}`);
        assert.deepEqual(await harvest(tree.at("outside")), {});
      }
    }
  });

  it("writes nothing over a file that was changed in between", async () => {
    const tree = await ground({ f: "old" });
    const permit = await writePermit(tree.workspace, "f", "old", "new");
    const outcome = await writeBytes(tree.workspace, permit, Buffer.from("new"), {
      beforeRename: async () => {
        await rm(tree.at("ws", "f"));
        await writeFile(tree.at("ws", "f"), "odd");
      },
    });
    assert.deepEqual(outcome, new FileChanged(tree.at("ws", "f")));
    assert.deepEqual(await harvest(tree.at("ws")), { f: "odd" });
  });

  it("ends a command with its group, at its time and after SIGTERM was ignored", async () => {
    const tree = await ground({});
    const script = "trap '' TERM; echo ready; sleep 300";
    const result = await runCommand(tree.workspace, runPermit(["sh", "-c", script], 1), {
      signal,
      onOutput: () => {},
    });
    assert.match(
      result instanceof ToolError ? "" : result.text,
      /timed out after 1 s.*SIGKILL[\s\S]*ready/,
    );
    const left = await runCommand(
      tree.workspace,
      runPermit(["sh", "-c", "sleep 300 & echo done"]),
      {
        signal,
        onOutput: () => {},
      },
    );
    assert.match(left instanceof ToolError ? "" : left.text, /exit code 0[\s\S]*done$/);
  });
});
