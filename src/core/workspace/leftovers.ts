import { createHash, randomBytes } from "node:crypto";
import { lstat, readdir, unlink } from "node:fs/promises";
import path from "node:path";
import { holdExisting } from "./parent.js";

/** What a call's temporary files have in their names; no other call of any session has the same. */
export function markOf(turn: string, call: string): string {
  return createHash("sha256").update(`${turn}\0${call}`).digest("hex").slice(0, 16);
}

/** A name beside the target that cannot be guessed, and that tells whose it is. */
export function temporaryName(mark: string): string {
  return `.countersign-${mark}-${randomBytes(8).toString("hex")}.tmp`;
}

/**
 * Removes what a call that was killed while it wrote `file` (absolute, real) has left beside it.
 * Only regular files with the call's own mark go, so that none of a call that still writes is
 * hit, and only in the directory that was written to, not in one that took its place. Gives the
 * names that were removed. Rejects with the error of the disk.
 */
export async function removeLeftovers(file: string, mark: string): Promise<readonly string[]> {
  const own = new RegExp(`^\\.countersign-${mark}-[0-9a-f]{16}\\.tmp$`);
  const parent = await holdExisting(path.dirname(file));
  if (parent === undefined) return [];
  try {
    const removed: string[] = [];
    for (const name of await readdir(parent.at)) {
      if (!own.test(name)) continue;
      const there = path.join(parent.at, name);
      if (!(await lstat(there)).isFile()) continue;
      await unlink(there);
      removed.push(name);
    }
    return removed;
  } finally {
    await parent.release(true);
  }
}
