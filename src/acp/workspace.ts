import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { messageOf } from "../core/messageOf.js";

/** A client's `cwd` as a workspace root, or why it is none. */
export function checkRoot(cwd: string): { readonly real: string } | { readonly unfit: string } {
  if (!isAbsolute(cwd)) return { unfit: `cwd must be an absolute path, and ${cwd} is not` };
  try {
    const real = realpathSync.native(cwd);
    if (!statSync(real).isDirectory()) return { unfit: `${cwd} is not a directory` };
    return { real };
  } catch (error) {
    return { unfit: `cwd cannot be opened: ${messageOf(error)}` };
  }
}

/** Whether `path` is `root` or under it, by what the disk says of both. */
export function isUnder(path: string, root: string): boolean {
  let way: string;
  try {
    way = relative(realpathSync.native(root), realpathSync.native(path));
  } catch {
    return false;
  }
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Whether two paths are one directory; equal as text where one of them is gone. */
export function sameDirectory(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync.native(one) === realpathSync.native(other);
  } catch {
    return false;
  }
}
