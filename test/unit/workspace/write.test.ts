import assert from "node:assert/strict";
import {
  chmod,
  chown,
  link as hardLink,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import type { Moments } from "../../../src/core/workspace/open.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { fifo, file, harvest, link } from "../../support/tree.js";
import { asOrdinaryUser, NOBODY } from "./ordinaryUser.js";
import { type Ground, ground, writePermit } from "./setup.js";

const WRITTEN = { written: true };

async function write(
  tree: Ground,
  given: string,
  before: string | null,
  after: string,
  moments?: Moments,
) {
  const permit = await writePermit(tree.workspace, given, before, after);
  return writeBytes(tree.workspace, permit, Buffer.from(after), moments);
}

const mode = async (at: string) => (await stat(at)).mode & 0o7777;

describe("a write", () => {
  it("puts exactly its bytes in the place of the file and leaves nothing beside it", async () => {
    const tree = await ground({ "a.txt": "old\n", dir: { b: "b" } });
    assert.deepEqual(await write(tree, "a.txt", "old\n", "new"), WRITTEN);
    assert.deepEqual(await harvest(tree.at("ws")), { "a.txt": "new", dir: { b: "b" } });
  });

  it("makes a new file with its missing directories", async () => {
    const tree = await ground({});
    assert.deepEqual(await write(tree, "x/y/z.txt", null, ""), WRITTEN);
    assert.deepEqual(await harvest(tree.at("ws")), { x: { y: { "z.txt": "" } } });
    assert.equal(await mode(tree.at("ws", "x", "y", "z.txt")), 0o666 & ~process.umask());
    assert.equal((await stat(tree.at("ws", "x", "y", "z.txt"))).nlink, 1);
  });

  it("keeps the mode bits, and the temporary file is never wider", async () => {
    const tree = await ground({
      script: file("s", 0o755),
      ".env": file("e", 0o600),
      odd: file("o", 0o666),
    });
    for (const [name, bits] of [
      ["script", 0o755],
      [".env", 0o600],
      ["odd", 0o666],
    ] as const) {
      let seen = -1;
      const look = async () => {
        const own = (await readdir(tree.at("ws"))).filter((entry) =>
          entry.startsWith(".countersign-"),
        );
        assert.equal(own.length, 1);
        seen = await mode(tree.at("ws", own[0] ?? ""));
      };
      const before = await readFile(tree.at("ws", name), "utf8");
      assert.deepEqual(await write(tree, name, before, "new", { beforeRename: look }), WRITTEN);
      assert.equal(seen, bits);
      assert.equal(await mode(tree.at("ws", name)), bits);
    }
  });

  it("goes through a link inside the workspace, which stays a link", async () => {
    const tree = await ground({
      "CLAUDE.md": link("AGENTS.md"),
      "AGENTS.md": "old\n",
      soon: link("d/new"),
    });
    assert.deepEqual(await write(tree, "CLAUDE.md", "old\n", "new\n"), WRITTEN);
    assert.deepEqual(await write(tree, "soon", null, "n"), WRITTEN);
    assert.deepEqual(await harvest(tree.at("ws")), {
      "AGENTS.md": "new\n",
      "CLAUDE.md": "-> AGENTS.md",
      d: { new: "n" },
      soon: "-> d/new",
    });
  });

  it("leaves the old text to other hard links of the file", async () => {
    const tree = await ground({ a: "old" });
    await hardLink(tree.at("ws", "a"), tree.at("ws", "b"));
    assert.deepEqual(await write(tree, "a", "old", "new"), WRITTEN);
    assert.deepEqual(await harvest(tree.at("ws")), { a: "new", b: "old" });
  });

  it("reaches outside where the path is a deliberate reach", async () => {
    const tree = await ground({}, { outside: { f: "old" } });
    assert.deepEqual(await write(tree, tree.at("outside", "f"), "old", "new"), WRITTEN);
    assert.deepEqual(await harvest(tree.at("outside")), { f: "new" });
  });

  it("is refused for bytes that are not the permit's, and for a second time", async () => {
    const tree = await ground({ f: "old" });
    const permit = await writePermit(tree.workspace, "f", "old", "new");
    await assert.rejects(writeBytes(tree.workspace, permit, Buffer.from("other")), /not the bytes/);
    await assert.rejects(writeBytes(tree.workspace, permit, Buffer.from("new")), /is spent/);
    assert.deepEqual(await harvest(tree.at("ws")), { f: "old" });
  });
});

describe("a write over a file that is not the card's", () => {
  it("writes nothing where the bytes differ, at once or just before the rename", async () => {
    const tree = await ground({ f: "theirs" });
    const changed = new FileChanged(tree.at("ws", "f"));
    assert.deepEqual(await write(tree, "f", "old", "new"), changed);
    assert.deepEqual(await write(tree, "f", null, "new"), changed);
    assert.deepEqual(
      await write(tree, "none", "old", "new"),
      new FileChanged(tree.at("ws", "none")),
    );
    const edit = () => writeFile(tree.at("ws", "f"), "THEIRS");
    assert.deepEqual(await write(tree, "f", "theirs", "new", { beforeRename: edit }), changed);
    assert.deepEqual(await harvest(tree.at("ws")), { f: "THEIRS" });
  });

  it("writes nothing where the file was deleted, or a new one appeared", async () => {
    const tree = await ground({ f: "old" });
    const remove = () => rm(tree.at("ws", "f"));
    assert.deepEqual(
      await write(tree, "f", "old", "new", { beforeRename: remove }),
      new FileChanged(tree.at("ws", "f")),
    );
    const create = () => writeFile(tree.at("ws", "g"), "theirs");
    assert.deepEqual(
      await write(tree, "g", null, "new", { beforeRename: create }),
      new FileChanged(tree.at("ws", "g")),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { g: "theirs" });
  });

  it("writes nothing where the mode was changed in between", async () => {
    const tree = await ground({ f: file("old", 0o644) });
    const narrow = () => chmod(tree.at("ws", "f"), 0o600);
    assert.deepEqual(
      await write(tree, "f", "old", "new", { beforeRename: narrow }),
      new FileChanged(tree.at("ws", "f")),
    );
    assert.equal(await mode(tree.at("ws", "f")), 0o600);
  });

  it("takes directories it has made away again", async () => {
    const tree = await ground({});
    const create = () => writeFile(tree.at("ws", "x", "y", "f"), "theirs");
    const permit = ["x/y/f", null, "new"] as const;
    assert.deepEqual(
      await write(tree, ...permit, { beforeRename: create }),
      new FileChanged(tree.at("ws", "x", "y", "f")),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { x: { y: { f: "theirs" } } });
    const tree2 = await ground({});
    await assert.rejects(
      write(tree2, "x/y/f", null, "new", {
        beforeRename: () => Promise.reject(new Error("a bug")),
      }),
      /a bug/,
    );
    assert.deepEqual(await harvest(tree2.at("ws")), {});
  });
});

describe("a directory that becomes a link", () => {
  const swap = async (tree: Ground) => {
    await rename(tree.at("ws", "d"), tree.at("ws", "moved"));
    await symlink("../outside", tree.at("ws", "d"));
  };

  it("between the card and the write: nothing outside is touched", async () => {
    for (const before of ["old", null]) {
      const tree = await ground({ d: before === null ? {} : { f: before } }, { outside: {} });
      const permit = await writePermit(tree.workspace, "d/f", before, "new");
      await swap(tree);
      assert.deepEqual(
        await writeBytes(tree.workspace, permit, Buffer.from("new")),
        new FileChanged(tree.at("ws", "d", "f")),
      );
      assert.deepEqual(await harvest(tree.at("outside")), {});
    }
  });

  it("between resolve and open: nothing outside is touched", async () => {
    for (const given of ["d/f", "d/new/deep/f"]) {
      const tree = await ground({ d: {} }, { outside: {} });
      const outcome = await write(tree, given, null, "new", { beforeOpen: () => swap(tree) });
      assert.deepEqual(outcome, new FileChanged(tree.at("ws", given)));
      assert.deepEqual(await harvest(tree.at()), {
        outside: {},
        ws: { d: "-> ../outside", moved: {} },
      });
    }
  });

  it("between the flush and the rename: nothing outside is touched", async () => {
    for (const before of ["old", null]) {
      const tree = await ground(
        { d: before === null ? {} : { f: before } },
        { outside: { f: "theirs" } },
      );
      const outcome = await write(tree, "d/f", before, "new", { beforeRename: () => swap(tree) });
      assert.deepEqual(outcome, new FileChanged(tree.at("ws", "d", "f")));
      assert.deepEqual(await harvest(tree.at()), {
        outside: { f: "theirs" },
        ws: { d: "-> ../outside", moved: before === null ? {} : { f: before } },
      });
    }
  });

  it("and a target that becomes one: the link is not followed and not replaced", async () => {
    const tree = await ground({ f: "old" }, { outside: { victim: "old" } });
    const turn = async () => {
      await rm(tree.at("ws", "f"));
      await symlink("../outside/victim", tree.at("ws", "f"));
    };
    const changed = new FileChanged(tree.at("ws", "f"));
    assert.deepEqual(await write(tree, "f", "old", "new", { beforeRename: turn }), changed);
    assert.deepEqual(await harvest(tree.at()), {
      outside: { victim: "old" },
      ws: { f: "-> ../outside/victim" },
    });
  });
});

describe("a write that cannot be made", () => {
  async function fails(tree: Ground, given: string, before: string | null, message: RegExp) {
    const was = await harvest(tree.at("ws"));
    const outcome = await write(tree, given, before, "new");
    assert.match(outcome instanceof ToolError ? outcome.message : JSON.stringify(outcome), message);
    assert.deepEqual(await harvest(tree.at("ws")), was);
  }

  it("says so of a file without a write bit, for root too", async () => {
    const tree = await ground({ f: file("old", 0o444) });
    await fails(tree, "f", "old", /f is read-only \(mode 0444\) and is not written/);
    assert.equal(await mode(tree.at("ws", "f")), 0o444);
  });

  it("says so where a parent is a file", async () => {
    const tree = await ground({ f: "old" });
    await fails(tree, "f/g", null, /a part of its path is a file/);
  });

  it("does not take a directory or a pipe for a file", async () => {
    const tree = await ground({ d: { x: "x" }, p: fifo() });
    assert.deepEqual(await write(tree, "d", "old", "new"), new FileChanged(tree.at("ws", "d")));
    assert.deepEqual(await write(tree, "p", "old", "new"), new FileChanged(tree.at("ws", "p")));
    assert.deepEqual(await harvest(tree.at("ws")), { d: { x: "x" }, p: "[fifo]" });
  });

  it("says so of a name that is too long", async () => {
    const tree = await ground({});
    await fails(tree, "x".repeat(256), null, /name that is too long/);
  });

  it("takes a name of 255 bytes", async () => {
    const tree = await ground({});
    assert.deepEqual(await write(tree, "x".repeat(255), null, "new"), WRITTEN);
  });

  it("says so of a full disk and leaves the file as it was", async () => {
    const tree = await ground({ f: "old" });
    const seen = await asOrdinaryUser(tree, "full-disk");
    assert.deepEqual(seen, {
      outcome: "f could not be written: it is over the file size limit; the file is as it was.",
      names: ["f"],
      content: "old",
    });
  });

  it("says so where an ordinary user may not write the directory, read, or take another's file", async () => {
    const tree = await ground({
      closed: { f: file("old", 0o666) },
      mine: file("old", 0o644),
      open: { theirs: file("old", 0o644), grouped: file("old", 0o664) },
      f: file("x", 0o600),
    });
    await chmod(tree.at("ws", "closed"), 0o555);
    await chmod(tree.at("ws", "open"), 0o777);
    await chown(tree.at("ws", "open", "grouped"), NOBODY, 0);
    const seen = await asOrdinaryUser(tree, "denied");
    assert.deepEqual(seen, {
      newInClosed:
        "closed/g may not be used: permission denied by the file system; ask the user to change it.",
      overInClosed:
        "closed/f may not be used: permission denied by the file system; ask the user to change it.",
      overAnothers:
        "mine may not be used: permission denied by the file system; ask the user to change it.",
      overAnothersInOpen:
        "open/theirs may not be used: permission denied by the file system; ask the user to change it.",
      // Its new group was not meant to write it.
      overWithAnotherGroup: { written: true },
      groupedMode: 0o644,
      read: "f may not be used: permission denied by the file system; ask the user to change it.",
      names: ["f"],
    });
  });
});

describe("a temporary file", () => {
  it("is not written through a link that waits under a guessed name", async () => {
    const tree = await ground({ f: "old" }, { outside: { victim: "v" } });
    for (const name of ["f.tmp", ".f.tmp", ".countersign-0.tmp", ".countersign-.tmp"]) {
      await symlink("../outside/victim", tree.at("ws", name));
    }
    const names = new Set<string>();
    const look = async () => {
      for (const name of await readdir(tree.at("ws"))) {
        if (/^\.countersign-[0-9a-f]{16}-[0-9a-f]{16}\.tmp$/.test(name)) names.add(name);
      }
    };
    assert.deepEqual(await write(tree, "f", "old", "new", { beforeRename: look }), WRITTEN);
    assert.deepEqual(await write(tree, "f", "new", "newer", { beforeRename: look }), WRITTEN);
    assert.equal(names.size, 2);
    assert.deepEqual(await harvest(tree.at("outside")), { victim: "v" });
  });

  it("is gone after an error", async () => {
    const tree = await ground({ f: "old" });
    await assert.rejects(
      write(tree, "f", "old", "new", { beforeRename: () => Promise.reject(new Error("a bug")) }),
    );
    assert.deepEqual(await harvest(tree.at("ws")), { f: "old" });
  });
});

describe("two writes of one file", () => {
  it("made from the same bytes never both succeed", async () => {
    const tree = await ground({ f: "old" });
    const outcomes = [];
    for (const after of ["one", "two"]) outcomes.push(await write(tree, "f", "old", after));
    assert.deepEqual(outcomes, [WRITTEN, new FileChanged(tree.at("ws", "f"))]);
  });
});
