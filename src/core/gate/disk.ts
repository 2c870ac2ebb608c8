import { WRITE_BYTES } from "../limits.js";
import { readSnapshot } from "../workspace/read.js";
import { resolvePath } from "../workspace/resolve.js";
import { type LocatedPath, ToolError, type Workspace } from "../workspace/types.js";
import type { PreparedWrite } from "./prepared.js";
import type { Gated } from "./requirement.js";

/** Whether the file of a write has the bytes it was prepared from; a file that cannot be read has not. */
export async function sameBytes(
  workspace: Workspace,
  write: Pick<PreparedWrite, "path" | "before">,
): Promise<boolean> {
  // A file that has grown past this differs from what was there, whatever it holds.
  const most = Math.max(WRITE_BYTES, write.before.bytes?.length ?? 0);
  const now = await readSnapshot(workspace, write.path, most);
  return !(now instanceof ToolError) && now.digest === write.before.digest;
}

async function leadsThere(workspace: Workspace, path: LocatedPath): Promise<boolean> {
  const now = await resolvePath(workspace, path.given);
  return now.kind === path.kind && now.real === path.real;
}

/** Whether a prepared call still is what its card shows: its path leads there, its file is the same. */
export async function stillShown(workspace: Workspace, prepared: Gated): Promise<boolean> {
  switch (prepared.kind) {
    case "run":
      return true;
    case "read":
      return leadsThere(workspace, prepared.path);
    case "write":
      // The path first: through a link that was swapped since, the bytes would be another file's.
      return (await leadsThere(workspace, prepared.path)) && sameBytes(workspace, prepared);
  }
  return prepared satisfies never;
}
