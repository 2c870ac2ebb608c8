import { constants } from "node:fs";
import { open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

/** True where `path` is `root` or under it; both real. `/ws-evil` is not under `/ws`. */
export function isUnder(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

export type ContainedText =
  | { readonly kind: "text"; readonly text: string; readonly cut: boolean; readonly bytes: number }
  | { readonly kind: "none" }
  | { readonly kind: "fault"; readonly fault: string };

/** The text without a byte order mark, with plain line ends, cut between characters. */
function decode(bytes: Buffer, cut: boolean): string {
  const text = new TextDecoder("utf-8").decode(bytes, { stream: cut });
  return text.replace(/\r\n?/g, "\n");
}

/**
 * The first `limit` bytes of a regular file that lies, after every symlink, under `root` (real).
 * Never rejects, never waits on a FIFO or a device.
 */
export async function readContained(
  root: string,
  path: string,
  limit: number,
): Promise<ContainedText> {
  try {
    const real = await realpath(path);
    if (!isUnder(real, root)) {
      return { kind: "fault", fault: `it is a link that leaves ${root}` };
    }
    // A link that took the place of the file since then is not followed; a FIFO does not hang.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const handle = await open(real, flags);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return { kind: "fault", fault: "it is not a regular file" };
      if (process.platform === "linux") {
        // A directory on the way may have become a link in between.
        const opened = await readlink(`/proc/self/fd/${handle.fd}`);
        if (!isUnder(opened, root)) {
          return { kind: "fault", fault: `it is a link that leaves ${root}` };
        }
      }
      const bytes = Buffer.alloc(Math.min(limit, found.size));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const cut = found.size > limit;
      const text = decode(bytes.subarray(0, bytesRead), cut);
      return { kind: "text", text, cut, bytes: found.size };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "none" };
    return { kind: "fault", fault: code === "ELOOP" ? "it is a loop of links" : message };
  }
}
