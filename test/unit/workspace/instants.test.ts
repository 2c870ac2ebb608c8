import assert from "node:assert/strict";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { listDirectory } from "../../../src/core/workspace/list.js";
import { issuePermit, type Permit } from "../../../src/core/workspace/permit.js";
import { readWindow } from "../../../src/core/workspace/read.js";
import { removeFile } from "../../../src/core/workspace/remove.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { FileChanged } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { fifo, file, harvest, link } from "../../support/tree.js";
import { type Ground, ground, readPermit, writePermit } from "./setup.js";

const { open, rename, rm, stat, symlink, writeFile } = { ...promises };
const real = { ...promises };

/** Puts `instead` in the place of a function of `node:fs/promises`, for every module. */
function replace<K extends "open" | "link">(name: K, instead: (typeof promises)[K]): void {
  promises[name] = instead;
  syncBuiltinESMExports();
}

/** Does `swap` in the instant before the one open of `path`, when every look at it is over. */
function beforeOpenOf(wanted: (path: string) => boolean, swap: (path: string) => Promise<void>) {
  let done = false;
  replace("open", async (path, flags, mode) => {
    if (!done && wanted(String(path))) {
      done = true;
      await swap(String(path));
    }
    return open(path, flags, mode);
  });
}

async function permitToRemove(tree: Ground, given: string): Promise<Permit<"remove">> {
  const { path, before } = (await writePermit(tree.workspace, given, "old", "")).allows;
  return issuePermit<"remove">({ kind: "remove", call: "c", path, before: before ?? "" });
}

describe("the instant between the last look at a file and its open", () => {
  afterEach(() => {
    Object.assign(promises, real);
    syncBuiltinESMExports();
  });

  const reading = async (tree: Ground) => {
    const permit = await readPermit(tree.workspace, "f");
    return readWindow(permit, tree.workspace, { offset: 0 });
  };

  it("is too short for a pipe to take its place: nothing waits for a writer", async () => {
    const tree = await ground({ f: "text", pipe: fifo() });
    beforeOpenOf(
      (path) => path === tree.at("ws", "f"),
      () => rename(tree.at("ws", "pipe"), tree.at("ws", "f")),
    );
    const outcome = await reading(tree);
    assert.match("message" in outcome ? outcome.message : "", /is not a regular file/);
  });

  it("is too short for a link to take its place: what it leads to is not even opened", async () => {
    const tree = await ground({ f: "text" }, { pipe: fifo() });
    beforeOpenOf(
      (path) => path === tree.at("ws", "f"),
      async () => {
        await rm(tree.at("ws", "f"));
        await symlink(tree.at("pipe"), tree.at("ws", "f"));
      },
    );
    // An open that followed it would find a pipe, and say so; here the link itself is found.
    assert.deepEqual(await reading(tree), new FileChanged(tree.at("ws", "f")));
  });

  it("is too short for another file to wait under the temporary file's name", async () => {
    const tree = await ground({ f: "old" }, { victim: "mine" });
    beforeOpenOf(
      (path) => path.endsWith(".tmp"),
      (path) => promises.link(tree.at("victim"), path),
    );
    const permit = await writePermit(tree.workspace, "f", "old", "new");
    const outcome = await writeBytes(tree.workspace, permit, Buffer.from("new"));
    assert.match("message" in outcome ? outcome.message : "", /is there already/);
    assert.deepEqual(await harvest(tree.at()), { ws: { f: "old" }, victim: "mine" });
  });

  it("is too short for a file to appear where a new one is put: it stays", async () => {
    const tree = await ground({});
    const { link: hardLink } = real;
    replace("link", async (from, to) => {
      await writeFile(String(to), "mine");
      return hardLink(from, to);
    });
    const permit = await writePermit(tree.workspace, "f", null, "new");
    assert.deepEqual(
      await writeBytes(tree.workspace, permit, Buffer.from("new")),
      new FileChanged(tree.at("ws", "f")),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { f: "mine" });
  });

  it("finds the temporary file of a secret with the secret's bits, and flushed before its rename", async () => {
    const tree = await ground({ f: file("old", 0o600) });
    const seen: string[] = [];
    replace("open", async (path, flags, mode) => {
      const handle: FileHandle = await open(path, flags, mode);
      if (!String(path).endsWith(".tmp")) return handle;
      seen.push(`made ${((await handle.stat()).mode & 0o777).toString(8)}`);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        seen.push(`flushed ${(await handle.stat()).size} bytes`);
        await sync();
      };
      return handle;
    });
    const umask = process.umask(0);
    try {
      const permit = await writePermit(tree.workspace, "f", "old", "new");
      const beforeRename = () => void seen.push("looked at again");
      await writeBytes(tree.workspace, permit, Buffer.from("new"), { beforeRename });
    } finally {
      process.umask(umask);
    }
    assert.deepEqual(seen, ["made 600", "flushed 3 bytes", "looked at again"]);
  });
});

describe("a directory that is moved while it is listed", () => {
  afterEach(() => {
    Object.assign(promises, real);
    syncBuiltinESMExports();
  });

  it("is not told of under the name it had", async () => {
    const tree = await ground({ d: { f: "" } });
    const { readdir } = real;
    promises.readdir = (async (...given: Parameters<typeof readdir>) => {
      await rename(tree.at("ws", "d"), tree.at("ws", "e"));
      return readdir(...given);
    }) as typeof readdir;
    syncBuiltinESMExports();
    const permit = await readPermit(tree.workspace, "d");
    assert.deepEqual(
      await listDirectory(permit, tree.workspace),
      new FileChanged(tree.at("ws", "d")),
    );
  });
});

describe("a link that leads elsewhere than when its card was made", () => {
  const swapped = async () => {
    const tree = await ground({ to: link("a"), a: "old", b: "old" });
    const write = await writePermit(tree.workspace, "to", "old", "new");
    const remove = await permitToRemove(tree, "to");
    await rm(tree.at("ws", "to"));
    await symlink("b", tree.at("ws", "to"));
    return { tree, write, remove };
  };

  it("is not written through, neither to where it led nor to where it leads", async () => {
    const { tree, write } = await swapped();
    assert.deepEqual(
      await writeBytes(tree.workspace, write, Buffer.from("new")),
      new FileChanged(tree.at("ws", "a")),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { a: "old", b: "old", to: "-> b" });
  });

  it("takes no file away", async () => {
    const { tree, remove } = await swapped();
    assert.deepEqual(
      await removeFile(tree.workspace, remove, undefined),
      new FileChanged(tree.at("ws", "a")),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { a: "old", b: "old", to: "-> b" });
  });
});

describe("a directory that becomes a link above the one that is written to", () => {
  it("leads to nothing being made there, not even for a moment", async () => {
    const tree = await ground({ d: { e: { f: "old" } } }, { outside: { e: { f: "old" } } });
    const made = async () => (await stat(tree.at("outside", "e"), { bigint: true })).ctimeNs;
    const before = await made();
    const permit = await writePermit(tree.workspace, "d/e/f", "old", "new");
    const outcome = await writeBytes(tree.workspace, permit, Buffer.from("new"), {
      beforeOpen: async () => {
        await rename(tree.at("ws", "d"), tree.at("ws", "moved"));
        await symlink("../outside", tree.at("ws", "d"));
      },
    });
    assert.deepEqual(outcome, new FileChanged(tree.at("ws", "d", "e", "f")));
    assert.equal(await made(), before);
  });
});

describe("a file that changes between the looks of its removal", () => {
  it("does not go to the trash", async () => {
    const tree = await ground({ f: "old" });
    const trashed: string[] = [];
    const trash = async (path: string) => void trashed.push(path);
    const outcome = await removeFile(tree.workspace, await permitToRemove(tree, "f"), trash, {
      beforeRename: () => writeFile(tree.at("ws", "f"), "mine"),
    });
    assert.deepEqual(outcome, new FileChanged(tree.at("ws", "f")));
    assert.deepEqual([trashed, await harvest(tree.at("ws"))], [[], { f: "mine" }]);
  });
});

describe("a workspace whose own folder became a link", () => {
  it("holds no path any more, there or missing", async () => {
    const tree = await ground({ f: "inside" }, { other: { f: "outside" } });
    await rename(tree.at("ws"), tree.at("was"));
    await symlink("other", tree.at("ws"));
    for (const given of ["f", "new", "new/f", tree.at("ws", "f")]) {
      const { kind } = await resolvePath(tree.workspace, given);
      assert.equal(kind, "refused", given);
    }
  });
});
