import { execFile } from "node:child_process";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { ToolError, type Workspace } from "../../../src/core/workspace/types.js";
import type { Ground } from "./setup.js";

/** The user that has no rights: what root may do anyway is shown to fail as this one. */
export const NOBODY = 65534;

/** Runs one of the scenes below in a process of an ordinary user and gives what it saw. */
export async function asOrdinaryUser(tree: Ground, scene: string): Promise<unknown> {
  await chmod(tree.at(), 0o755);
  // The file size limit stands in for a full disk: the write fails in the middle, as there.
  const limit = scene === "full-disk" ? "trap '' XFSZ; ulimit -f 1; " : "";
  if (scene === "full-disk") await chmod(tree.at("ws"), 0o777);
  if (scene === "full-disk") await chmod(tree.at("ws", "f"), 0o666);
  const command = `${limit}exec "$0" --import=tsx "$1" "$2" "$3"`;
  const args = [process.execPath, import.meta.filename, tree.at("ws"), scene];
  const { stdout } = await promisify(execFile)("sh", ["-c", command, ...args], {
    cwd: path.resolve(import.meta.dirname, "../../.."),
    // The loader's cache would itself hit the limit on file sizes.
    env: { ...process.env, TSX_DISABLE_CACHE: "1" },
  });
  return JSON.parse(stdout);
}

/** Imported late: the module is loaded with the rights of root, before they are given up. */
async function modules() {
  const { writeBytes } = await import("../../../src/core/workspace/write.js");
  const { readWindow } = await import("../../../src/core/workspace/read.js");
  const setup = await import("./permits.js");
  return { writeBytes, readWindow, ...setup };
}
type Modules = Awaited<ReturnType<typeof modules>>;

const said = (outcome: unknown) => (outcome instanceof ToolError ? outcome.message : outcome);

async function fullDisk(workspace: Workspace, all: Modules): Promise<unknown> {
  const after = "x".repeat(64 * 1024);
  const permit = await all.writePermit(workspace, "f", "old", after);
  const outcome = said(await all.writeBytes(workspace, permit, Buffer.from(after)));
  const names = await readdir(workspace.realRoot);
  return { outcome, names, content: await readFile(path.join(workspace.realRoot, "f"), "utf8") };
}

async function denied(workspace: Workspace, all: Modules): Promise<unknown> {
  const write = async (given: string, before: string | null) => {
    const permit = await all.writePermit(workspace, given, before, "new");
    return said(await all.writeBytes(workspace, permit, Buffer.from("new")));
  };
  const permit = await all.readPermit(workspace, "f");
  return {
    newInClosed: await write("closed/g", null),
    overInClosed: await write("closed/f", "old"),
    overAnothers: await write("mine", "old"),
    overAnothersInOpen: await write("open/theirs", "old"),
    overWithAnotherGroup: await write("open/grouped", "old"),
    groupedMode: (await stat(path.join(workspace.realRoot, "open/grouped"))).mode & 0o7777,
    read: said(await all.readWindow(permit, workspace, { offset: 0 })),
    names: await readdir(path.join(workspace.realRoot, "closed")),
  };
}

if (process.argv[1] === import.meta.filename) {
  const [, , root = "", scene] = process.argv;
  const all = await modules();
  const workspace = await all.workspaceOn(root);
  if (process.getuid?.() === 0) {
    process.setgroups?.([]);
    process.setgid?.(NOBODY);
    process.setuid?.(NOBODY);
  }
  const seen = await (scene === "full-disk" ? fullDisk : denied)(workspace, all);
  process.stdout.write(JSON.stringify(seen));
}
