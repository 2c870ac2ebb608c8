import { showName } from "./show.js";
import type { LocatedPath } from "./types.js";
import { ToolError } from "./types.js";

/** The code of a system error (`ENOENT`, …), or "" for anything else. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? "";
}

/** A path as results name it: relative inside the workspace, absolute elsewhere. */
export function nameOf(path: LocatedPath): string {
  return showName(path.kind === "inside" ? path.relative : path.real);
}

const WORDS: Record<string, string> = {
  ENOENT: "is not there; list_dir shows what is",
  ENOTDIR: "is not there: a part of its path is a file, not a directory",
  EISDIR: "is a directory, not a file; list_dir lists it",
  EACCES: "may not be used: permission denied by the file system; ask the user to change it",
  EPERM: "may not be changed: not permitted by the file system; ask the user to change it",
  ELOOP: "leads through too many links",
  ENAMETOOLONG: "has a name that is too long for the file system; choose a shorter one",
  ENOSPC:
    "could not be written: the disk is full; the file is as it was. Ask the user to free space",
  EDQUOT: "could not be written: the disk quota is used up; the file is as it was",
  EFBIG: "could not be written: it is over the file size limit; the file is as it was",
  EROFS: "is on a read-only file system",
  EMFILE: "could not be opened: too many files are open; try again",
  ENFILE: "could not be opened: too many files are open; try again",
  EBUSY: "is in use by another program; try again",
  EIO: "could not be used: the disk reports an input/output error",
  ENXIO: "is not a regular file",
  EEXIST: "is there already",
};

/** What a system error means for whoever asked for `path`; anything that is none is a bug and is thrown. */
export function fault(path: LocatedPath, error: unknown): ToolError {
  const code = codeOf(error);
  if (code === "") throw error;
  const words = WORDS[code] ?? `could not be used: ${(error as Error).message}`;
  return new ToolError(`${nameOf(path)} ${words}.`);
}

/** What a thing is that is no regular file. */
export function notRegular(
  path: LocatedPath,
  stats: { isDirectory(): boolean; isFIFO(): boolean; isSocket(): boolean },
): ToolError {
  if (stats.isDirectory()) {
    return new ToolError(`${nameOf(path)} is a directory, not a file; list_dir lists it.`);
  }
  const what = stats.isFIFO() ? "a pipe" : stats.isSocket() ? "a socket" : "a device";
  return new ToolError(`${nameOf(path)} is not a regular file (it is ${what}) and is not opened.`);
}
