import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rename, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { markOf, removeLeftovers, temporaryName } from "../../../src/core/workspace/leftovers.js";
import { fifo, harvest, link } from "../../support/tree.js";
import { type Ground, ground } from "./setup.js";

const KILLED = fileURLToPath(new URL("killedWrite.ts", import.meta.url));

/** A write of `f` whose process is killed between the flush and the rename. */
async function killedWrite(tree: Ground): Promise<void> {
  const args = ["--import", "tsx", KILLED, tree.at("ws"), "f"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
}

describe("what a write leaves that was killed", () => {
  const mark = markOf("t", "c");

  it("is one file beside a target that is whole, and it is taken away by its mark", async () => {
    const tree = await ground({ f: "old" });
    await killedWrite(tree);
    const names = (await readdir(tree.at("ws"))).filter((name) => name !== "f");
    assert.equal(names.length, 1);
    assert.match(names[0] ?? "", new RegExp(`^\\.countersign-${mark}-[0-9a-f]{16}\\.tmp$`));
    assert.deepEqual(await removeLeftovers(tree.at("ws", "f"), mark), names);
    assert.deepEqual(await harvest(tree.at("ws")), { f: "old" });
  });

  it("has a mark of its own for each call of each turn", () => {
    const marks = [
      ["t", "c"],
      ["t", "d"],
      ["u", "c"],
      ["tc", ""],
      ["", "tc"],
    ].map(([turn = "", call = ""]) => markOf(turn, call));
    assert.equal(new Set(marks).size, marks.length);
  });

  it("is all that goes: not what another call has there, no link, no directory, no pipe", async () => {
    const [pipe, linked, folder] = [1, 2, 3].map(() => temporaryName(mark));
    const kept = {
      f: "old",
      [temporaryName(markOf("u", "c"))]: "of a call that still writes",
      [`.countersign-${mark}.tmp`]: "a name like it",
      [`x${temporaryName(mark)}`]: "a name like it",
      [`${temporaryName(mark)}x`]: "a name like it",
      [pipe ?? ""]: fifo(),
      [linked ?? ""]: link("f"),
      [folder ?? ""]: { inside: "x" },
    };
    const tree = await ground({ ...kept, [temporaryName(mark)]: "half" });
    assert.equal((await removeLeftovers(tree.at("ws", "f"), mark)).length, 1);
    assert.deepEqual(await harvest(tree.at("ws")), await harvest((await ground(kept)).at("ws")));
  });

  it("is not looked for where a link leads by now, or nothing is there any more", async () => {
    const name = temporaryName(mark);
    const tree = await ground({ d: { f: "old" } }, { outside: { f: "theirs", [name]: "theirs" } });
    await rename(tree.at("ws", "d"), tree.at("ws", "away"));
    assert.deepEqual(await removeLeftovers(tree.at("ws", "d", "f"), mark), []);
    await symlink("../outside", tree.at("ws", "d"));
    assert.deepEqual(await removeLeftovers(tree.at("ws", "d", "f"), mark), []);
    await rename(tree.at("ws"), tree.at("moved"));
    await symlink("outside", tree.at("ws"));
    assert.deepEqual(await removeLeftovers(tree.at("ws", "f"), mark), []);
    assert.deepEqual(await harvest(tree.at("outside")), { f: "theirs", [name]: "theirs" });
  });
});
