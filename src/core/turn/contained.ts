import { type Opened, openChecked } from "../workspace/open.js";
import { resolvePath } from "../workspace/resolve.js";

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
 * Where `path`, relative to `root` (real), lands: the real path under it, or why it is not
 * touched. The same rules as for every path of a call.
 */
export async function locateContained(
  root: string,
  path: string,
): Promise<{ readonly real: string } | { readonly fault: string }> {
  const found = await resolvePath({ root, realRoot: root }, path);
  if (found.kind === "refused") return { fault: found.reason };
  if (found.kind === "outside") return { fault: `it leaves ${root}` };
  return { real: found.real };
}

/**
 * The first `limit` bytes of the regular file at `path`, relative to `root` (real), which it must
 * not leave by a link. Never rejects, never waits on a FIFO or a device.
 */
export async function readContained(
  root: string,
  path: string,
  limit: number,
): Promise<ContainedText> {
  const roots = { root, realRoot: root };
  let opened: Opened;
  try {
    const located = await resolvePath(roots, path);
    if (located.kind === "refused") return { kind: "fault", fault: located.reason };
    if (located.kind === "outside") return { kind: "fault", fault: `it leaves ${root}` };
    opened = await openChecked(roots, located, "file");
  } catch (error) {
    return { kind: "fault", fault: (error as Error).message };
  }
  if (opened.kind === "absent") return { kind: "none" };
  if (opened.kind === "moved") return { kind: "fault", fault: "it changes while it is read" };
  if (opened.kind === "failed") return { kind: "fault", fault: opened.error.message };
  const { handle } = opened;
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(limit, size));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const cut = size > limit;
    return { kind: "text", text: decode(bytes.subarray(0, bytesRead), cut), cut, bytes: size };
  } catch (error) {
    return { kind: "fault", fault: (error as Error).message };
  } finally {
    await handle.close();
  }
}
