import { lstat, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf, fault, nameOf } from "./faults.js";
import { landsThere, type Moments, type Roots } from "./open.js";
import { holdParent, type Parent } from "./parent.js";
import type { Permit } from "./permit.js";
import { FileChanged, ToolError } from "./types.js";
import { lookAt, readOnly } from "./write.js";

/** Puts the file at an absolute path to the trash; rejects where there is none. */
export type Trash = (path: string) => Promise<void>;

/** The file is not where it was. */
export interface Removed {
  readonly removed: true;
  /** False where there is no trash: the file is gone from the disk. */
  readonly trash: boolean;
}

async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/**
 * Takes away the one file that a permit is for, where it still has the permit's digest and its path
 * still lands there: to the trash, and where that cannot be used, from the disk. Directories stay.
 * `FileChanged` where the file or the way to it is another by now: nothing is removed.
 */
export async function removeFile(
  workspace: Roots,
  permit: Permit<"remove">,
  trash: Trash | undefined,
  moments: Moments = {},
): Promise<Removed | FileChanged | ToolError> {
  const { path: target, before } = permit.spend();
  const changed = new FileChanged(target.real);
  if (!(await landsThere(workspace, target))) return changed;
  await moments.beforeOpen?.();
  let parent: Parent | undefined;
  try {
    // Holding it would make a directory that is gone.
    if (!(await isThere(path.dirname(target.real)))) return changed;
    parent = await holdParent(path.dirname(target.real));
    if (parent === undefined) return changed;
    const file = path.join(parent.at, path.basename(target.real));
    const still = async () => {
      const now = await lookAt(file);
      return now?.digest === before && (await parent?.isInPlace()) === true ? now : undefined;
    };
    const first = await still();
    if (first === undefined) return changed;
    if ((first.mode & 0o222) === 0) return readOnly(target, first.mode);
    await moments.beforeRename?.();
    if ((await still()) === undefined) return changed;
    if (trash !== undefined && (await toTrash(trash, target.real))) {
      if (!(await isThere(file))) return { removed: true, trash: true };
      return new ToolError(`${nameOf(target)} was put to the trash and is there again.`);
    }
    // The trash may have taken its time to say no.
    if ((await still()) === undefined) return changed;
    await unlink(file);
    await parent.flush();
    return { removed: true, trash: false };
  } catch (error) {
    return fault(target, error);
  } finally {
    await parent?.release(false);
  }
}

async function toTrash(trash: Trash, file: string): Promise<boolean> {
  try {
    await trash(file);
    return true;
  } catch {
    return false;
  }
}
