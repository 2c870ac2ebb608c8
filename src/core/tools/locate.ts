import { stat } from "node:fs/promises";
import type { PreparedRead } from "../gate/prepared.js";
import { codeOf, fault, nameOf, notRegular } from "../workspace/faults.js";
import { resolvePath } from "../workspace/resolve.js";
import { type LocatedPath, ToolError, type Workspace } from "../workspace/types.js";

/** Where a path of a call lands, or why it is refused. */
export async function locate(
  workspace: Workspace,
  given: string,
): Promise<LocatedPath | ToolError> {
  const path = await resolvePath(workspace, given);
  return path.kind === "refused" ? new ToolError(path.reason) : path;
}

async function missing(
  path: LocatedPath,
  want: "file" | "directory" | "any",
): Promise<ToolError | undefined> {
  try {
    const stats = await stat(path.real);
    if (want === "directory" && !stats.isDirectory()) {
      return new ToolError(`${nameOf(path)} is not a directory; read_file reads a file.`);
    }
    if (stats.isFile() || (want !== "file" && stats.isDirectory())) return undefined;
    return notRegular(path, stats);
  } catch (error) {
    return codeOf(error) === "" ? undefined : fault(path, error);
  }
}

/**
 * A read, list or search of `given`. Inside the workspace one that would fail fails here; outside
 * nothing is looked at before the answer, so that a denial tells nothing.
 */
export async function prepareRead(
  workspace: Workspace,
  tool: string,
  given: string,
  want: "file" | "directory" | "any",
): Promise<PreparedRead | ToolError> {
  const path = await locate(workspace, given);
  if (path instanceof ToolError) return path;
  if (path.kind === "inside") {
    const fault = await missing(path, want);
    if (fault !== undefined) return fault;
  }
  return { kind: "read", tool, path };
}
