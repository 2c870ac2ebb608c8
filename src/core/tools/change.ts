import { access, constants } from "node:fs/promises";
import type { Prepared, PreparedWrite } from "../gate/prepared.js";
import { fault, nameOf } from "../workspace/faults.js";
import type { Permit } from "../workspace/permit.js";
import { readSnapshot } from "../workspace/read.js";
import {
  FileChanged,
  type LocatedPath,
  type Snapshot,
  ToolError,
  type ToolResult,
  type Workspace,
} from "../workspace/types.js";
import { readOnly, writeBytes } from "../workspace/write.js";
import { granted } from "./define.js";
import { locate } from "./locate.js";

/** What a tool makes of the bytes on disk, or why it cannot. */
export type Change = (before: Snapshot, path: LocatedPath) => Uint8Array | ToolError;

async function unwritable(path: LocatedPath, before: Snapshot): Promise<ToolError | undefined> {
  if (before.mode === null) return undefined;
  // The bits themselves: root may write a read-only file, and should not.
  if ((before.mode & 0o222) === 0) return readOnly(path, before.mode);
  try {
    await access(path.real, constants.W_OK);
    return undefined;
  } catch (error) {
    return fault(path, error);
  }
}

async function make(
  workspace: Workspace,
  path: LocatedPath,
  maxBytes: number,
  change: Change,
): Promise<{ before: Snapshot; after: Uint8Array } | ToolError> {
  const before = await readSnapshot(workspace, path, maxBytes);
  if (before instanceof ToolError) return before;
  const denied = await unwritable(path, before);
  if (denied !== undefined) return denied;
  const after = change(before, path);
  return after instanceof ToolError ? after : { before, after };
}

/**
 * A write whose every byte is known. One that cannot be made fails here inside the workspace;
 * outside it becomes a read that fails, since the reason may only be told once that is allowed.
 */
export async function prepareChange(
  workspace: Workspace,
  tool: string,
  given: string,
  maxBytes: number,
  change: Change,
): Promise<Prepared | ToolError> {
  const path = await locate(workspace, given);
  if (path instanceof ToolError) return path;
  const made = await make(workspace, path, maxBytes, change);
  if (!(made instanceof ToolError)) return { kind: "write", tool, path, ...made };
  return path.kind === "outside" ? { kind: "read", tool, path, fails: made } : made;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 10) lines++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Writes what was prepared. `done` says what was made of the file, before its size. */
export async function executeChange(
  workspace: Workspace,
  prepared: Prepared,
  permit: Permit | undefined,
  done: (prepared: PreparedWrite) => string,
): Promise<ToolResult | ToolError | FileChanged> {
  if (prepared.kind === "read" && prepared.fails !== undefined) {
    granted("read", prepared, permit).permit.spend();
    return prepared.fails;
  }
  const own = granted("write", prepared, permit);
  const outcome = await writeBytes(workspace, own.permit, own.prepared.after);
  if (outcome instanceof ToolError || outcome instanceof FileChanged) return outcome;
  const { path, after, receipt } = own.prepared;
  const size = `${plural(after.length, "byte")}, ${plural(countLines(after), "line")}`;
  if (receipt !== undefined) {
    return { ok: true, text: `Wrote ${nameOf(path)}: ${size}. ${receipt}` };
  }
  return { ok: true, text: `${done(own.prepared)} ${nameOf(path)}: ${size}.` };
}
