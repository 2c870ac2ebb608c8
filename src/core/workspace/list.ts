import type { Dirent } from "node:fs";
import { type FileHandle, lstat, readdir, readlink } from "node:fs/promises";
import { LIST_NAMES } from "../limits.js";
import { fault, nameOf } from "./faults.js";
import { heldPath, isAt, type Moments, openChecked, type Roots } from "./open.js";
import type { Permit } from "./permit.js";
import { showNameBytes } from "./show.js";
import { FileChanged, type LocatedPath, ToolError, type ToolResult } from "./types.js";

/** Characters of a link's target that are shown. */
const TARGET_CHARS = 300;

/** `name` under `directory`, by its bytes, since a name need not be UTF-8. */
function child(directory: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${directory}/`), name]);
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isFIFO()) return " (pipe)";
  if (entry.isSocket()) return " (socket)";
  return " (device)";
}

async function line(directory: string, entry: Dirent<Buffer>): Promise<string> {
  const name = showNameBytes(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  const full = child(directory, entry.name);
  try {
    if (entry.isSymbolicLink()) {
      const target = showNameBytes(await readlink(full, { encoding: "buffer" }));
      const cut = target.length > TARGET_CHARS ? `${target.slice(0, TARGET_CHARS)}...` : target;
      return `${name} -> ${cut}`;
    }
    if (!entry.isFile()) return name + kindOf(entry);
    const { size } = await lstat(full);
    return `${name} (${size} ${size === 1 ? "byte" : "bytes"})`;
  } catch {
    // Gone since, or not ours to look at: the name is what there is to tell.
    return name;
  }
}

async function listHeld(path: LocatedPath, handle: FileHandle): Promise<ToolResult | FileChanged> {
  const at = heldPath(handle) ?? path.real;
  const entries = await readdir(at, { encoding: "buffer", withFileTypes: true });
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  const lines = await Promise.all(entries.slice(0, LIST_NAMES).map((entry) => line(at, entry)));
  if (!(await isAt(handle, path.real))) return new FileChanged(path.real);
  if (entries.length === 0) return { ok: true, text: `[${nameOf(path)} is an empty directory]` };
  if (entries.length > LIST_NAMES) {
    lines.push(`[the first ${LIST_NAMES} of ${entries.length} names]`);
  }
  return { ok: true, text: lines.join("\n") };
}

/**
 * One level of names, sorted by their bytes: directories with "/", files with their size, a link
 * with its target and never followed. At most `LIST_NAMES` names, and how many there are.
 * `FileChanged` where the path leads elsewhere by now.
 */
export async function listDirectory(
  permit: Permit<"read">,
  workspace: Roots,
  moments: Moments = {},
): Promise<ToolResult | ToolError | FileChanged> {
  const { path } = permit.spend();
  const opened = await openChecked(workspace, path, "directory", moments);
  if (opened.kind === "moved") return new FileChanged(path.real);
  if (opened.kind === "absent") return new ToolError(`${nameOf(path)} is not there.`);
  if (opened.kind === "failed") return opened.error;
  try {
    return await listHeld(path, opened.handle);
  } catch (error) {
    return fault(path, error);
  } finally {
    await opened.handle.close();
  }
}
