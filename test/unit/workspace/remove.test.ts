import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../../src/core/workspace/digest.js";
import { issuePermit, type Permit } from "../../../src/core/workspace/permit.js";
import { removeFile } from "../../../src/core/workspace/remove.js";
import { FileChanged, ToolError, type Workspace } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { located, workspaceOn, writePermit } from "./permits.js";

async function makeDirectory(): Promise<{ base: string; clean: () => Promise<void> }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "countersign-remove-")));
  return { base, clean: () => rm(base, { recursive: true }) };
}

describe("a removal", () => {
  let base: string;
  let root: string;
  let workspace: Workspace;
  let clean: () => Promise<void>;
  beforeEach(async () => {
    ({ base, clean } = await makeDirectory());
    root = join(base, "ws");
    await mkdir(root);
    workspace = await workspaceOn(root);
  });
  afterEach(() => clean());

  const permit = async (given: string, bytes: string): Promise<Permit<"remove">> =>
    issuePermit<"remove">({
      kind: "remove",
      call: "u",
      path: await located(workspace, given),
      before: digest(Buffer.from(bytes)),
    });

  it("takes exactly one file away, and leaves its directory", async () => {
    await mkdir(join(root, "d"));
    await writeFile(join(root, "d/a"), "a");
    await writeFile(join(root, "d/b"), "a");
    deepEqual(await removeFile(workspace, await permit("d/a", "a"), undefined), {
      removed: true,
      trash: false,
    });
    deepEqual(await readdir(join(root, "d")), ["b"]);
  });

  it("does nothing to a file that is another by now, is gone, or whose directory is", async () => {
    await writeFile(join(root, "a"), "mine");
    ok((await removeFile(workspace, await permit("a", "a"), undefined)) instanceof FileChanged);
    equal(await readFile(join(root, "a"), "utf8"), "mine");
    ok((await removeFile(workspace, await permit("none", "a"), undefined)) instanceof FileChanged);
    ok(
      (await removeFile(workspace, await permit("x/none", "a"), undefined)) instanceof FileChanged,
    );
    deepEqual(await readdir(root), ["a"]);
  });

  it("does nothing to a file that changes between the looks, nor to one that a link leads to", async () => {
    await writeFile(join(root, "a"), "a");
    const changed = await removeFile(workspace, await permit("a", "a"), undefined, {
      beforeRename: () => writeFile(join(root, "a"), "mine"),
    });
    ok(changed instanceof FileChanged);
    equal(await readFile(join(root, "a"), "utf8"), "mine");
    await mkdir(join(base, "out"));
    await mkdir(join(root, "d"));
    await writeFile(join(base, "out/b"), "b");
    await writeFile(join(root, "d/b"), "b");
    const moved = await removeFile(workspace, await permit("d/b", "b"), undefined, {
      beforeRename: async () => {
        await rename(join(root, "d"), join(root, "e"));
        await symlink(join(base, "out"), join(root, "d"));
      },
    });
    ok(moved instanceof FileChanged);
    equal(await readFile(join(base, "out/b"), "utf8"), "b");
    equal(await readFile(join(root, "e/b"), "utf8"), "b");
  });

  it("does nothing to a read-only file, and says so", async () => {
    await writeFile(join(root, "a"), "a");
    await chmod(join(root, "a"), 0o444);
    const refused = await removeFile(workspace, await permit("a", "a"), undefined);
    ok(refused instanceof ToolError);
    match(refused.message, /^a is read-only \(mode 0444\)/);
    equal(await readFile(join(root, "a"), "utf8"), "a");
  });

  it("unlinks where the trash says no, but not what came there in the meantime", async () => {
    await writeFile(join(root, "a"), "a");
    const no = async () => {
      throw new Error("no trash");
    };
    deepEqual(await removeFile(workspace, await permit("a", "a"), no), {
      removed: true,
      trash: false,
    });
    await writeFile(join(root, "a"), "a");
    const slow = async (file: string) => {
      await writeFile(file, "mine");
      throw new Error("no trash");
    };
    ok((await removeFile(workspace, await permit("a", "a"), slow)) instanceof FileChanged);
    equal(await readFile(join(root, "a"), "utf8"), "mine");
  });

  it("says where the trash took a file and it is there still", async () => {
    await writeFile(join(root, "a"), "a");
    const lazy = await removeFile(workspace, await permit("a", "a"), async () => {});
    ok(lazy instanceof ToolError);
    match(lazy.message, /is there again/);
  });

  it("is permitted once", async () => {
    await writeFile(join(root, "a"), "a");
    const once = await permit("a", "a");
    await removeFile(workspace, once, undefined);
    await rejects(removeFile(workspace, once, undefined), /is spent/);
  });
});

describe("a file that comes back", () => {
  it("has its permission bits again, and none that let it run as someone else", async () => {
    const { base, clean } = await makeDirectory();
    try {
      const workspace = await workspaceOn(base);
      for (const [mode, has] of [
        [0o640, 0o640],
        [0o777, 0o777],
        [0o6755, 0o755],
      ] as const) {
        const { allows } = await writePermit(workspace, "a", null, "a");
        const permit = issuePermit<"write">({ ...allows, mode });
        await writeBytes(workspace, permit, Buffer.from("a"));
        equal((await stat(join(base, "a"))).mode & 0o7777, has);
        await rm(join(base, "a"));
      }
    } finally {
      await clean();
    }
  });
});
