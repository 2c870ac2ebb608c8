import { constants, readlinkSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { codeOf, fault, notRegular } from "./faults.js";
import { resolvePath } from "./resolve.js";
import type { LocatedPath, ToolError, Workspace } from "./types.js";

/** For tests alone: called at the moments in which another program could move things. */
export interface Moments {
  /** After the path was resolved, before it is opened. */
  readonly beforeOpen?: () => Promise<void> | void;
  /** After the temporary file is flushed, before the last check and the rename. */
  readonly beforeRename?: () => Promise<void> | void;
}

export type Roots = Pick<Workspace, "root" | "realRoot">;

export type Opened =
  /** Open, and seen to be what the path names. Whoever gets it closes it. */
  | { readonly kind: "open"; readonly handle: FileHandle; readonly stats: Stats }
  /** Nothing is there. */
  | { readonly kind: "absent" }
  /** The path leads elsewhere by now: the call is to be prepared again. */
  | { readonly kind: "moved" }
  | { readonly kind: "failed"; readonly error: ToolError };

/** Flags that Windows does not have are 0 there. */
const SAFELY =
  (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const DIRECTORY = constants.O_DIRECTORY ?? 0;

/** Times an open is tried again where a file was replaced in between, as editors do when they save. */
const TRIES = 4;

/** The path by which the kernel knows an open file, or undefined where it cannot be asked. */
export function heldPath(handle: FileHandle): string | undefined {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : undefined;
}

/**
 * Whether what is open is at `real`, and got there through no link. On Linux the kernel is asked
 * for the path of the open file itself; elsewhere the path is looked up again and must name the
 * same file.
 */
export async function isAt(handle: FileHandle, real: string): Promise<boolean> {
  const held = heldPath(handle);
  if (held !== undefined) {
    const path = linkOf(held);
    if (path?.equals(Buffer.from(real)) === true) return true;
    // A disk that ignores case may know it by another spelling; anything else has moved.
    if (path !== undefined && path.toString().toLowerCase() !== real.toLowerCase()) return false;
  }
  try {
    const [own, there] = await Promise.all([
      handle.stat({ bigint: true }),
      lstat(real, { bigint: true }),
    ]);
    if (own.dev !== there.dev || own.ino !== there.ino) return false;
    return isSpelled(await realpath(real), real);
  } catch {
    return false;
  }
}

/**
 * Whether what `real` names goes by exactly that name: another spelling is another directory that
 * a link leads to, `/WS` beside `/ws`. A Mac's older disks alone compose characters in another way.
 */
function isSpelled(now: string, real: string): boolean {
  return now === real || (process.platform === "darwin" && now.normalize() === real.normalize());
}

/** The kernel answers for an open file out of its memory: no disk is asked that could be slow. */
function linkOf(held: string): Buffer | undefined {
  try {
    return readlinkSync(held, { encoding: "buffer" });
  } catch {
    return undefined;
  }
}

async function tryOpen(path: LocatedPath, kind: "file" | "directory"): Promise<Opened> {
  let handle: FileHandle;
  try {
    // Looked at first: to open a device can itself have an effect.
    const stats = await lstat(path.real);
    if (stats.isSymbolicLink()) return { kind: "moved" };
    if (kind === "file" && !stats.isFile())
      return { kind: "failed", error: notRegular(path, stats) };
    const flags = constants.O_RDONLY | SAFELY | (kind === "directory" ? DIRECTORY : 0);
    handle = await open(path.real, flags);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return { kind: "absent" };
    if (code === "ELOOP") return { kind: "moved" };
    return { kind: "failed", error: fault(path, error) };
  }
  let opened: Opened = { kind: "moved" };
  try {
    const stats = await handle.stat();
    if (kind === "file" && !stats.isFile())
      opened = { kind: "failed", error: notRegular(path, stats) };
    else if (await isAt(handle, path.real)) opened = { kind: "open", handle, stats };
  } finally {
    if (opened.kind !== "open") await handle.close();
  }
  return opened;
}

/** Whether the path as it was given still lands where it was resolved to. */
export async function landsThere(roots: Roots, path: LocatedPath): Promise<boolean> {
  const now = await resolvePath(roots, path.given);
  return now.kind === path.kind && now.real === path.real;
}

/**
 * Opens what a path names for reading: the path is resolved again, opened without following a
 * link and without waiting for a pipe, and then what is open is checked. Only a regular file
 * (or a directory, for `kind`) is ever handed out.
 */
export async function openChecked(
  roots: Roots,
  path: LocatedPath,
  kind: "file" | "directory",
  moments: Moments = {},
): Promise<Opened> {
  for (let tries = 1; ; tries++) {
    if (!(await landsThere(roots, path))) return { kind: "moved" };
    await moments.beforeOpen?.();
    const opened = await tryOpen(path, kind);
    if (opened.kind !== "moved" || tries === TRIES) return opened;
  }
}
