import { constants } from "node:fs";
import { access, type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import path from "node:path";
import { whileBusy } from "../whileBusy.js";
import { digest, digestOf } from "./digest.js";
import { codeOf, fault, nameOf } from "./faults.js";
import { temporaryName } from "./leftovers.js";
import { landsThere, type Moments, type Roots } from "./open.js";
import { holdParent, type Parent } from "./parent.js";
import type { EffectOf, Permit } from "./permit.js";
import type { LocatedPath } from "./types.js";
import { FileChanged, ToolError } from "./types.js";

/** The file has the bytes that the card showed. */
export interface Written {
  readonly written: true;
}

const NOFOLLOW = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What is at the target now, seen through the parent that is held. */
interface Target {
  readonly digest: string | null;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

const NO_TARGET = { digest: null, mode: 0, uid: -1, gid: -1 } satisfies Target;

/** The file at a path that no link is followed to; undefined where it is none. */
export async function lookAt(file: string): Promise<Target | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return NO_TARGET;
    // A link or a socket that took the file's place.
    if (codeOf(error) === "ELOOP" || codeOf(error) === "ENXIO") return undefined;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return undefined;
    return {
      digest: await digestOf(handle),
      mode: stats.mode & 0o7777,
      uid: stats.uid,
      gid: stats.gid,
    };
  } finally {
    await handle.close();
  }
}

/**
 * The mode a replacement gets, once its owner is what could be had of the old one's: where the
 * group could not be kept, the group gets no more than everyone, so that nothing widens.
 */
async function takeOver(handle: FileHandle, target: Target): Promise<number> {
  const own = await handle.stat();
  if (own.uid === target.uid && own.gid === target.gid) return target.mode;
  try {
    await handle.chown(target.uid, target.gid);
    return target.mode;
  } catch {
    const everyone = target.mode & 0o007;
    return (target.mode & 0o707) | ((everyone << 3) & target.mode);
  }
}

async function writeTemporary(
  file: string,
  bytes: Uint8Array,
  target: Target,
  newMode: number | undefined,
): Promise<void> {
  const replaces = target.digest !== null;
  // A file that comes back gets its bits again, but none that let it run as someone else.
  const bits = newMode === undefined ? undefined : newMode & 0o777;
  // Exclusive: a link that waits under this name is never written through.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOFOLLOW;
  const handle = await open(file, flags, replaces ? target.mode & 0o777 : (bits ?? 0o666));
  try {
    await handle.writeFile(bytes);
    const mode = replaces ? await takeOver(handle, target) : bits;
    if (mode !== undefined && process.platform !== "win32") await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts a new file in its place without ever replacing one; false where one is there by now. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    // A file system without hard links: the check just before has to do.
    await whileBusy(() => rename(from, to));
    return true;
  }
  await unlink(from);
  return true;
}

async function replaceIn(
  parent: Parent,
  target: LocatedPath,
  { before, mark, mode }: Pick<EffectOf<"write">, "before" | "mark" | "mode">,
  bytes: Uint8Array,
  moments: Moments,
): Promise<Written | FileChanged | ToolError> {
  const file = path.join(parent.at, path.basename(target.real));
  const changed = new FileChanged(target.real);
  const now = await lookAt(file);
  if (now === undefined || now.digest !== before) return changed;
  if (now.digest !== null) {
    if ((now.mode & 0o222) === 0) return readOnly(target, now.mode);
    // Another user's file: a rename would get around its mode bits.
    await access(file, constants.W_OK);
  }

  const temporary = path.join(parent.at, temporaryName(mark));
  let mine = false;
  try {
    mine = true;
    await writeTemporary(temporary, bytes, now, mode);
    await moments.beforeRename?.();
    const last = await lookAt(file);
    if (last === undefined || last.digest !== before || last.mode !== now.mode) return changed;
    if (!(await parent.isInPlace())) return changed;
    if (before === null) {
      if (!(await linkNew(temporary, file))) return changed;
    } else {
      await whileBusy(() => rename(temporary, file));
    }
    mine = false;
    await parent.flush();
    return { written: true };
  } finally {
    if (mine) await unlink(temporary).catch(() => {});
  }
}

/** The error for a file without a write bit; the bits are looked at, since root may write anyway. */
export function readOnly(target: LocatedPath, mode: number): ToolError {
  const bits = mode.toString(8).padStart(4, "0");
  return new ToolError(
    `${nameOf(target)} is read-only (mode ${bits}) and is not written. Ask the user to change its mode first.`,
  );
}

/**
 * Makes the one change that a permit is for: the bytes with the permit's digest, over a file that
 * still has the digest of the card, where the path still lands. Missing directories are made and,
 * where it fails, taken away again. On any error the target is byte for byte what it was.
 * `FileChanged` where the file or the way to it is not the one of the card: nothing is written.
 */
export async function writeBytes(
  workspace: Roots,
  permit: Permit<"write">,
  bytes: Uint8Array,
  moments: Moments = {},
): Promise<Written | FileChanged | ToolError> {
  const effect = permit.spend();
  const { path: target, after } = effect;
  if (digest(bytes) !== after) throw new Error("these are not the bytes that were countersigned");
  if (!(await landsThere(workspace, target))) return new FileChanged(target.real);
  await moments.beforeOpen?.();
  let parent: Parent | undefined;
  let done = false;
  try {
    parent = await holdParent(path.dirname(target.real));
    if (parent === undefined) return new FileChanged(target.real);
    const outcome = await replaceIn(parent, target, effect, bytes, moments);
    done = "written" in outcome;
    return outcome;
  } catch (error) {
    return fault(target, error);
  } finally {
    await parent?.release(done);
  }
}
