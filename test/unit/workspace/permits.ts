import path from "node:path";
import { digest } from "../../../src/core/workspace/digest.js";
import { cleanEnvironment } from "../../../src/core/workspace/environment.js";
import { markOf } from "../../../src/core/workspace/leftovers.js";
import { issuePermit, type Permit } from "../../../src/core/workspace/permit.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { findRipgrep } from "../../../src/core/workspace/ripgrep.js";
import type { LocatedPath, Workspace } from "../../../src/core/workspace/types.js";
import { openWorkspace } from "../../../src/core/workspace/workspace.js";

/** Kept from before a test pretends to be elsewhere. */
const { platform } = process;

/** A workspace on the folder `root`, with the ripgrep of this project. */
export function workspaceOn(root: string): Promise<Workspace> {
  return openWorkspace({
    root,
    ripgrep: () =>
      findRipgrep({ packaged: path.resolve(import.meta.dirname, "../../.."), platform }),
    env: cleanEnvironment(process.env),
    unsaved: () => new Set(),
  });
}

export async function located(workspace: Workspace, given: string): Promise<LocatedPath> {
  const resolved = await resolvePath(workspace, given);
  if (resolved.kind === "refused") throw new Error(resolved.reason);
  return resolved;
}

export async function readPermit(workspace: Workspace, given: string): Promise<Permit<"read">> {
  return issuePermit<"read">({ kind: "read", call: "c", path: await located(workspace, given) });
}

export function runPermit(argv: readonly string[], timeout = 120): Permit<"run"> {
  return issuePermit<"run">({ kind: "run", call: "c", argv, timeout });
}

/** A permit to write `after` over `before` (null: there is no file), whatever is there. */
export async function writePermit(
  workspace: Workspace,
  given: string,
  before: string | Uint8Array | null,
  after: string | Uint8Array,
): Promise<Permit<"write">> {
  return issuePermit<"write">({
    kind: "write",
    call: "c",
    path: await located(workspace, given),
    before: before === null ? null : digest(Buffer.from(before)),
    after: digest(Buffer.from(after)),
    mark: markOf("t", "c"),
  });
}
