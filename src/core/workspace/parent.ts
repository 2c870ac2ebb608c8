import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rmdir } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "./faults.js";
import { heldPath, isAt } from "./open.js";

/** The directory of a write, held while the write goes on. */
export interface Parent {
  /** The directory to act under; on Linux the held one itself, wherever its name leads by now. */
  readonly at: string;
  /** Whether the held directory is still where it was when it was opened. */
  isInPlace(): Promise<boolean>;
  /** Flushes the directory to disk, where the platform can. */
  flush(): Promise<void>;
  /** Lets go; takes directories that were made away again unless the write is done. */
  release(done: boolean): Promise<void>;
}

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** A directory that is open, or on platforms that cannot open one, known by its number. */
interface Held {
  readonly real: string;
  readonly handle: FileHandle | undefined;
  readonly identity: string;
}

async function identityOf(real: string): Promise<string> {
  const stats = await lstat(real, { bigint: true });
  return stats.isDirectory() ? `${stats.dev}:${stats.ino}` : "";
}

/** Opens `name` under `parent`; undefined where a link is in the place of a directory. */
async function hold(at: string, real: string): Promise<Held | undefined> {
  if (process.platform === "win32") {
    return { real, handle: undefined, identity: await identityOf(real) };
  }
  let handle: FileHandle;
  try {
    handle = await open(at, FLAGS);
  } catch (error) {
    if (codeOf(error) === "ELOOP") return undefined;
    // O_NOFOLLOW with O_DIRECTORY says ENOTDIR for a link, as it does for a file.
    const isLink = codeOf(error) === "ENOTDIR" && (await isSymbolicLink(at));
    if (isLink) return undefined;
    throw error;
  }
  return { real, handle, identity: "" };
}

async function isSymbolicLink(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isSymbolicLink();
  } catch {
    return false;
  }
}

async function inPlace(held: Held): Promise<boolean> {
  if (held.handle !== undefined) return isAt(held.handle, held.real);
  try {
    const same = held.identity !== "" && (await identityOf(held.real)) === held.identity;
    return same && (await realpath(held.real)) === held.real;
  } catch {
    return false;
  }
}

/** The path under which things inside `held` are reached. */
function under(held: Held): string {
  const own = held.handle === undefined ? undefined : heldPath(held.handle);
  return own ?? held.real;
}

/** The nearest directory at or above `real` that is there, and the names below it that are not. */
async function nearest(real: string): Promise<{ there: string; missing: string[] }> {
  const missing: string[] = [];
  let there = real;
  for (;;) {
    try {
      await lstat(there);
      return { there, missing };
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || path.dirname(there) === there) throw error;
      missing.unshift(path.basename(there));
      there = path.dirname(there);
    }
  }
}

/** Holds the directory `real` as it is; undefined where it is gone, or a link is on the way to it. */
export async function holdExisting(
  real: string,
): Promise<Pick<Parent, "at" | "release"> | undefined> {
  const held = await hold(real, real).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw error;
  });
  if (held === undefined) return undefined;
  const release = async () => held.handle?.close();
  if (await inPlace(held)) return { at: under(held), release };
  await release();
  return undefined;
}

/**
 * Holds the directory `real` and makes it, with its parents, where it is not there: each step is
 * taken under the directory held before, so that a link that appears is never followed.
 * Undefined where the way does not lead there any more. Rejects with a system error.
 */
export async function holdParent(real: string): Promise<Parent | undefined> {
  const { there, missing } = await nearest(real);
  const chain: Held[] = [];
  const made: { at: string; name: string }[] = [];

  const release = async (done: boolean) => {
    if (!done) {
      for (const { at, name } of made.reverse()) await rmdir(path.join(at, name)).catch(() => {});
    }
    for (const held of chain.reverse()) await held.handle?.close();
  };

  try {
    let last = await hold(there, there);
    if (last !== undefined) chain.push(last);
    if (last === undefined || !(await inPlace(last))) {
      await release(false);
      return undefined;
    }
    for (const name of missing) {
      const at = under(last);
      await mkdir(path.join(at, name));
      made.push({ at, name });
      const next = await hold(path.join(at, name), path.join(last.real, name));
      if (next !== undefined) chain.push(next);
      if (next === undefined || !(await inPlace(next))) {
        await release(false);
        return undefined;
      }
      last = next;
    }
    const held = last;
    return {
      at: under(held),
      isInPlace: () => inPlace(held),
      flush: async () => {
        // Some file systems cannot flush a directory; the rename has happened all the same.
        await held.handle?.sync().catch(() => {});
      },
      release,
    };
  } catch (error) {
    await release(false);
    // Made by someone else in between: the way is not the one that was resolved.
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
}
