import path from "node:path";
import { PATH_CHARS } from "../limits.js";
import { hasLoneSurrogate } from "./show.js";

/** Names that Windows takes for a device in every directory, with any extension. */
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:[.:].*)?$/i;

/** The path rules of a platform. */
export function pathsOf(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** `given` in its parts, without empty ones and "." */
export function partsOf(given: string, platform: NodeJS.Platform): string[] {
  const separator = platform === "win32" ? /[\\/]/ : /\//;
  return given.split(separator).filter((part) => part !== "" && part !== ".");
}

function refuseWindowsName(given: string): string | undefined {
  if (/^[\\/]{2}/.test(given)) {
    return "it is a network or device path (UNC), which is never used; copy what is needed into the workspace";
  }
  if (/^[a-z]:(?![\\/])/i.test(given)) {
    return "it names a drive without a full path; give the path from the drive's root, or relative to the workspace";
  }
  const rest = given.replace(/^[a-z]:/i, "");
  for (const part of partsOf(rest, "win32")) {
    if (DEVICE.test(part)) return `"${part}" is the name of a Windows device; choose another name`;
    if (part.includes(":")) {
      return `"${part}" names a stream inside a file (NTFS), which is never used; name the file alone`;
    }
    if (part !== ".." && /[. ]$/.test(part)) {
      return `"${part}" ends in a dot or a space, which Windows drops; name the file as it is on disk`;
    }
  }
  return undefined;
}

/**
 * Why a path is refused for its spelling alone, before the disk is asked; undefined where it is
 * not. The sentence says what to do instead.
 */
export function refuseName(given: string, platform: NodeJS.Platform): string | undefined {
  if (given === "") return 'it is empty; "." is the workspace itself';
  if (given.length > PATH_CHARS) {
    return `it has ${given.length} characters, and at most ${PATH_CHARS} are looked at; give a shorter one`;
  }
  if (given.includes("\0")) return "it holds a NUL character, which no path can";
  if (hasLoneSurrogate(given)) return "it is no valid text (half of a surrogate pair)";
  if (given.startsWith("~")) {
    return '"~" is not expanded here; give an absolute path, or "./" before a name that begins with "~"';
  }
  return platform === "win32" ? refuseWindowsName(given) : undefined;
}

/** Whether `real` is `root` or under it. Both are real paths: `/ws-evil` is not under `/ws`. */
export function isWithin(root: string, real: string, platform: NodeJS.Platform): boolean {
  const { sep } = pathsOf(platform);
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}
