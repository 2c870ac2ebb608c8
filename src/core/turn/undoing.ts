import { sameBytes } from "../gate/disk.js";
import { exclusively } from "../gate/exclusive.js";
import type { Gate } from "../gate/gate.js";
import type { GateLedger, UndoChange, UndoPermit } from "../gate/ports.js";
import { REPLACED_BYTES } from "../limits.js";
import type { EventOf, Surface } from "../session/events.js";
import type { SessionFacts } from "../session/state.js";
import { markOf, removeLeftovers } from "../workspace/leftovers.js";
import { landsThere } from "../workspace/open.js";
import { readSnapshot } from "../workspace/read.js";
import { removeFile, type Trash } from "../workspace/remove.js";
import { resolvePath } from "../workspace/resolve.js";
import { FileChanged, ToolError, type Workspace } from "../workspace/types.js";
import { writeBytes } from "../workspace/write.js";
import type { UndoChoice, UndoFile } from "./live.js";
import type { PlannedItem, PlannedUndo } from "./undo.js";

export interface UndoMeans {
  readonly gate: Pick<Gate, "admitUndo">;
  readonly ledger: Pick<GateLedger, "append">;
  readonly workspace: Workspace;
  readonly trash: Trash | undefined;
  /** A new id, never given before. */
  readonly newId: () => string;
}

const CHANGED = "It changed at the last moment and was not touched.";
const NOT_DONE = "Not done: the host stopped before.";

/** What of an item is to be done, or undefined where it stays as it is. */
function changeOf(item: PlannedItem, choice: UndoChoice | undefined): UndoChange | undefined {
  const { located: path, snapshot: before, mode } = item;
  if (path === undefined || before === undefined) return undefined;
  const known = { path, before, ...(mode === undefined ? {} : { mode }) };
  switch (item.state) {
    case "restore":
    case "create":
    case "remove":
      return choice === "keep" ? undefined : { ...known, after: item.before };
    case "conflict":
      // Without a word of the user's what is there stays.
      if (choice === "restore") return { ...known, after: item.before, choice };
      if (choice !== "merge" || item.merged === undefined) return undefined;
      return { ...known, after: item.merged, choice };
    case "same":
    case "impossible":
      return undefined;
  }
  return item.state satisfies never;
}

/** Whether the file of a change is still the one that the user was shown. */
async function stillShown(workspace: Workspace, { path, before }: UndoChange): Promise<boolean> {
  if (!(await landsThere(workspace, path))) return false;
  return sameBytes(workspace, { path, before });
}

type Done = Awaited<ReturnType<typeof writeBytes> | ReturnType<typeof removeFile>>;
type Outcome = Omit<UndoFile, "path">;

async function carryOutFile(
  { workspace, trash }: UndoMeans,
  permitted: UndoPermit,
): Promise<Outcome> {
  const failed = (message: string): Outcome => ({ outcome: "failed", message });
  const done = await exclusively<Done>(permitted.path.real, () =>
    permitted.kind === "write"
      ? writeBytes(workspace, permitted.permit, permitted.bytes)
      : removeFile(workspace, permitted.permit, trash),
  );
  if (done instanceof FileChanged) return failed(CHANGED);
  if (done instanceof ToolError) return failed(done.message);
  return "removed" in done ? { outcome: "removed", trash: done.trash } : { outcome: "restored" };
}

export type Undone =
  | { readonly kind: "nothing" }
  /** Files are not what the user was shown: nothing was done. */
  | { readonly kind: "changed" }
  | { readonly kind: "done"; readonly undo: string; readonly files: readonly UndoFile[] };

/**
 * Does what the user confirmed of a plan, and nothing else. All files are looked at again first; one
 * that differs from what was shown stops it before anything is done. Rejects with `LogError` where
 * the log cannot be written: then nothing more is done.
 */
export async function carryOut(
  means: UndoMeans,
  plan: PlannedUndo,
  choices: ReadonlyMap<string, UndoChoice>,
  surface: Surface,
): Promise<Undone> {
  const { gate, ledger, workspace } = means;
  const changes = plan.items.flatMap((item) => changeOf(item, choices.get(item.path)) ?? []);
  if (changes.length === 0) return { kind: "nothing" };
  for (const change of changes) {
    if (!(await stillShown(workspace, change))) return { kind: "changed" };
  }
  const undo = means.newId();
  const { kind, id: of } = plan.target;
  const permits = await gate.admitUndo({ undo, kind, of, files: changes, surface });
  const files: UndoFile[] = [];
  for (const permitted of permits) {
    const path = permitted.path.real;
    const outcome = await carryOutFile(means, permitted);
    await ledger.append({ type: "undo_file", undo, path, ...outcome });
    files.push({ path, ...outcome });
  }
  await ledger.append({ type: "undo_ended", undo, reason: "finished" }, { flush: true });
  return { kind: "done", undo, files };
}

/** What became of a file that an undo had begun with, by what is on the disk. */
async function foundOut(
  workspace: Workspace | undefined,
  file: EventOf<"undo_started">["files"][number],
): Promise<Outcome> {
  const unknown: Outcome = { outcome: "failed", message: NOT_DONE };
  if (workspace === undefined) return unknown;
  const located = await resolvePath(workspace, file.path);
  if (located.kind === "refused" || located.real !== file.path) return unknown;
  const now = await readSnapshot(workspace, located, REPLACED_BYTES);
  if (now instanceof ToolError || now.digest !== file.after) return unknown;
  return { outcome: file.after === null ? "removed" : "restored" };
}

/**
 * Writes down what became of an undo in which an earlier host stopped; nothing of it is done again.
 * Rejects with `LogError`.
 */
export async function settleUndo(
  ledger: Pick<GateLedger, "append">,
  workspace: Workspace | undefined,
  facts: Pick<SessionFacts, "undo">,
): Promise<void> {
  const { undo: open } = facts;
  if (open === undefined) return;
  const { started, told } = open;
  for (const file of started.files) {
    const { path } = file;
    if (told.has(path)) continue;
    // A rename of this process that is still under way counts.
    const outcome = await exclusively(path, async () => {
      await removeLeftovers(path, markOf(started.undo, path)).catch(() => {});
      return foundOut(workspace, file);
    });
    const found = { found: true, ...outcome } as const;
    await ledger.append({ type: "undo_file", undo: started.undo, path, ...found });
  }
  const ended = { type: "undo_ended", undo: started.undo, reason: "interrupted" } as const;
  await ledger.append(ended, { flush: true });
}
