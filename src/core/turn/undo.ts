/**
 * What an undo would do, file by file, from the log and the disk as it is now. Nothing is changed
 * here. A file goes back only where it is still what was left of it; everything else is for the
 * user to decide, with the three states in view.
 */
import { mergeLines } from "../gate/merge.js";
import { REPLACED_BYTES, WRITE_BYTES } from "../limits.js";
import { readSnapshot } from "../workspace/read.js";
import { resolvePath } from "../workspace/resolve.js";
import { type LocatedPath, type Snapshot, ToolError, type Workspace } from "../workspace/types.js";
import type { ChangeSet, LoggedChange } from "./changes.js";
import type { UndoItem, UndoPlan } from "./live.js";

export interface UndoSources {
  readonly workspace: Workspace;
  /** Bytes that the session kept, checked against their digest. */
  readonly kept: (digest: string) => Promise<Uint8Array | undefined>;
}

/** An item with what the core needs to carry it out. */
export interface PlannedItem extends UndoItem {
  readonly located: LocatedPath | undefined;
  readonly snapshot: Snapshot | undefined;
}

export interface PlannedUndo extends UndoPlan {
  readonly items: readonly PlannedItem[];
}

/** What is at the path now; undefined where it leads elsewhere, `ToolError` where it cannot be read. */
async function lookAtFile(
  workspace: Workspace,
  path: string,
): Promise<{ located: LocatedPath; now: Snapshot | ToolError } | undefined> {
  const located = await resolvePath(workspace, path);
  // The write landed at this very path: one that leads through a link by now is another file.
  if (located.kind === "refused" || located.real !== path) return undefined;
  return { located, now: await readSnapshot(workspace, located, REPLACED_BYTES) };
}

/** The states in which a file may be left by these changes, and whether others changed it between. */
function leftBy(changes: readonly LoggedChange[]): { left: Set<string | null>; broken: boolean } {
  let left = new Set<string | null>([changes[0]?.before ?? null]);
  let broken = false;
  for (const { before, after, certain } of changes) {
    if (!left.has(before)) broken = true;
    left = new Set(certain ? [after] : [before, after]);
  }
  return { left, broken };
}

const NOTHING = { left: undefined, merged: undefined, located: undefined, snapshot: undefined };

async function planFile(
  { workspace, kept }: UndoSources,
  changes: readonly LoggedChange[],
): Promise<PlannedItem | undefined> {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { path, relative, mode } = first;
  const base = {
    path,
    name: relative ?? path,
    ...(mode === undefined ? {} : { mode }),
    unsaved: workspace.unsaved().has(path),
    before: null,
    now: null,
    ...NOTHING,
  };
  const impossible = (why: UndoItem["why"]): PlannedItem => ({
    ...base,
    state: "impossible",
    ...(why === undefined ? {} : { why }),
  });
  const found = await lookAtFile(workspace, path);
  if (found === undefined) return impossible("elsewhere");
  const { located, now } = found;
  if (now instanceof ToolError) return impossible("unreadable");
  const known = { ...base, now: now.bytes, located, snapshot: now };
  if (now.digest === first.before) return { ...known, before: now.bytes, state: "same" };
  const before = first.before === null ? null : await kept(first.before);
  if (before === undefined) return impossible("lost");
  if (now.mode !== null && (now.mode & 0o222) === 0) return impossible("readOnly");
  const item = { ...known, before };
  const { left, broken } = leftBy(changes);
  if (left.has(now.digest) && !broken) {
    const state = before === null ? "remove" : now.bytes === null ? "create" : "restore";
    return { ...item, state, left: now.bytes };
  }
  const leftBytes = last.after === null ? null : await kept(last.after);
  const merged =
    broken || !leftBytes || !now.bytes || !before
      ? undefined
      : await mergeSmall(leftBytes, now.bytes, before);
  const why = left.has(now.digest) ? "between" : "since";
  return { ...item, state: "conflict", why, left: leftBytes, merged };
}

async function mergeSmall(
  base: Uint8Array,
  now: Uint8Array,
  before: Uint8Array,
): Promise<Uint8Array | undefined> {
  if ([base, now, before].some((bytes) => bytes.length > WRITE_BYTES)) return undefined;
  const merged = await mergeLines(base, now, before);
  if (merged === undefined || merged.length > WRITE_BYTES) return undefined;
  // What changed nothing in the end leaves nothing to take out of what is there.
  return Buffer.compare(merged, now) === 0 ? undefined : merged;
}

/** What undoing `set` would do now. Several changes of one file go back to before the first. */
export async function planUndo(sources: UndoSources, set: ChangeSet): Promise<PlannedUndo> {
  const byPath = new Map<string, LoggedChange[]>();
  for (const change of set.changes) {
    const known = byPath.get(change.path);
    if (known === undefined) byPath.set(change.path, [change]);
    else known.push(change);
  }
  const items: PlannedItem[] = [];
  for (const changes of byPath.values()) {
    const item = await planFile(sources, changes);
    if (item !== undefined) items.push(item);
  }
  const { target, text, at, commands } = set;
  return { target, text, at, items, commands };
}
