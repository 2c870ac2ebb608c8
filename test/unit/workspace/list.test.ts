import assert from "node:assert/strict";
import { rename, symlink, writeFile } from "node:fs/promises";
import net from "node:net";
import { LIST_NAMES } from "../../../src/core/limits.js";
import { listDirectory } from "../../../src/core/workspace/list.js";
import { readWindow } from "../../../src/core/workspace/read.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { fifo, link } from "../../support/tree.js";
import { type Ground, ground, readPermit } from "./setup.js";

async function list(tree: Ground, given = "."): Promise<string> {
  const result = await listDirectory(await readPermit(tree.workspace, given), tree.workspace);
  if (result instanceof FileChanged) throw new Error("changed");
  return result instanceof ToolError ? `error: ${result.message}` : result.text;
}

describe("listing a directory", () => {
  it("names each thing for what it is, sorted, and follows no link", async () => {
    const tree = await ground({
      "ok.txt": "12345",
      one: "1",
      ".hidden": "",
      src: { deep: "x" },
      dead: link("nowhere"),
      loop: link("loop"),
      out: link("../outside"),
      pipe: fifo(),
    });
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(tree.at("ws", "socket"), resolve));
    try {
      assert.deepEqual((await list(tree)).split("\n"), [
        ".hidden (0 bytes)",
        "dead -> nowhere",
        "loop -> loop",
        "ok.txt (5 bytes)",
        "one (1 byte)",
        "out -> ../outside",
        "pipe (pipe)",
        "socket (socket)",
        "src/",
      ]);
    } finally {
      server.close();
    }
    assert.equal(await list(tree, "src"), "deep (1 byte)");
  });

  it("shows a link that leads nowhere where it is all there is, and says where there is nothing", async () => {
    const tree = await ground({ a: { dead: link("nowhere") }, b: {} });
    assert.equal(await list(tree, "a"), "dead -> nowhere");
    assert.equal(await list(tree, "b"), "[b is an empty directory]");
  });

  it("escapes names that could be taken for something else", async () => {
    const tree = await ground({
      "a\nb.txt": "",
      "x\x1b[31m.txt": "",
      '"q"': "",
      "a -> b": "",
      " lead": "",
      "bidi\u202egnp": "",
      "back\\slash": "",
      "caf\u00e9": "",
      to: link("x\ny"),
    });
    await writeFile(Buffer.from(`${tree.at("ws")}/caf\xe9.txt`, "latin1"), "");
    assert.deepEqual((await list(tree)).split("\n"), [
      '" lead" (0 bytes)',
      '"\\"q\\"" (0 bytes)',
      '"a\\nb.txt" (0 bytes)',
      '"a -> b" (0 bytes)',
      "back\\slash (0 bytes)",
      '"bidi\\u202egnp" (0 bytes)',
      "caf\u00e9 (0 bytes)",
      '"caf\\xE9.txt" (0 bytes)',
      'to -> "x\\ny"',
      '"x\\u001b[31m.txt" (0 bytes)',
    ]);
  });

  it("shows a name that is no UTF-8 in a form by which no other file is opened", async () => {
    const tree = await ground({ "caf\u00e9.txt": "another", "caf\ufffd.txt": "another" });
    await writeFile(Buffer.from(`${tree.at("ws")}/caf\xe9.txt`, "latin1"), "x");
    const shown = (await list(tree)).split("\n").find((line) => line.includes("\\xE9")) ?? "";
    const name = shown.slice(0, shown.lastIndexOf(" ("));
    for (const given of [name, name.slice(1, -1)]) {
      const permit = await readPermit(tree.workspace, given);
      const read = await readWindow(permit, tree.workspace, { offset: 0 });
      assert.ok(read instanceof ToolError);
      assert.match(read.message, /is not there/);
    }
  });

  it("gives 500 names whole, and of more the first 500 and how many there are", async () => {
    for (const count of [LIST_NAMES, LIST_NAMES + 1, 1200]) {
      const names = Array.from(
        { length: count },
        (_, index) => `f${String(index).padStart(5, "0")}`,
      );
      const tree = await ground(Object.fromEntries(names.map((name) => [name, ""])));
      const lines = (await list(tree)).split("\n");
      const shown = names.slice(0, LIST_NAMES).map((name) => `${name} (0 bytes)`);
      const more = count > LIST_NAMES ? [`[the first 500 of ${count} names]`] : [];
      assert.deepEqual(lines, [...shown, ...more]);
    }
  });

  it("says so where it is a file or is not there", async () => {
    const tree = await ground({ f: "x" });
    assert.match(
      await list(tree, "f"),
      /^error: f is not there: a part of its path is a file|^error: f is not a directory/,
    );
    assert.equal(await list(tree, "none"), "error: none is not there.");
  });

  it("does not list through a directory that became a link", async () => {
    const tree = await ground({ d: { inside: "" } }, { outside: { SECRET: "" } });
    const permit = await readPermit(tree.workspace, "d");
    let swapped = false;
    const result = await listDirectory(permit, tree.workspace, {
      beforeOpen: async () => {
        if (swapped) return;
        swapped = true;
        await rename(tree.at("ws", "d"), tree.at("ws", "gone"));
        await symlink("../outside", tree.at("ws", "d"));
      },
    });
    assert.deepEqual(result, new FileChanged(tree.at("ws", "d")));
  });
});
