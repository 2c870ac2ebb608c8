import type { FileHandle } from "node:fs/promises";
import { BINARY_SNIFF_BYTES, READ_BYTES } from "../limits.js";
import { digest } from "./digest.js";
import { fault, nameOf } from "./faults.js";
import { type Moments, openChecked, type Roots } from "./open.js";
import type { Permit } from "./permit.js";
import type { LocatedPath, Snapshot, ToolResult } from "./types.js";
import { FileChanged, ToolError } from "./types.js";
import { reachOf, readByLine, readByOffset, Start, windowText } from "./window.js";

const NO_FILE: Snapshot = { bytes: null, digest: null, mode: null, links: 0 };

/** Reads to the end, or one byte past `maxBytes`: sizes that files state can be wrong or old. */
async function readAtMost(handle: FileHandle, maxBytes: number, size: number): Promise<Buffer> {
  let buffer = Buffer.alloc(Math.min(maxBytes, size) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length > maxBytes) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const more = Buffer.alloc(Math.min(maxBytes + 1, buffer.length * 2 + 4096));
      buffer.copy(more);
      buffer = more;
    }
  }
}

/**
 * The bytes of a file at one moment, checked to be those that the path names. `bytes: null` where
 * there is no file. An error where it is no regular file, is over `maxBytes`, may not be read, or
 * leads elsewhere by now.
 */
export async function readSnapshot(
  workspace: Roots,
  path: LocatedPath,
  maxBytes: number,
  moments: Moments = {},
): Promise<Snapshot | ToolError> {
  const opened = await openChecked(workspace, path, "file", moments);
  if (opened.kind === "absent") return NO_FILE;
  if (opened.kind === "failed") return opened.error;
  if (opened.kind === "moved") {
    return new ToolError(`${nameOf(path)} leads elsewhere than a moment ago; make the call again.`);
  }
  const { handle, stats } = opened;
  try {
    const tooLarge = (size: number) =>
      new ToolError(
        `${nameOf(path)} has ${size} bytes, and at most ${maxBytes} can be changed this way. Use run with a program that edits in place.`,
      );
    if (stats.size > maxBytes) return tooLarge(stats.size);
    const bytes = await readAtMost(handle, maxBytes, stats.size);
    if (bytes.length > maxBytes) return tooLarge(bytes.length);
    return { bytes, digest: digest(bytes), mode: stats.mode & 0o7777, links: stats.nlink };
  } catch (error) {
    return fault(path, error);
  } finally {
    await handle.close();
  }
}

/** From a byte (from 0) or a line (from 1). */
export type ReadFrom = { readonly offset: number } | { readonly line: number };

/**
 * A window of at most `READ_BYTES` bytes of a file, as text for the model. Costs what it returns,
 * plus the way to the line for a read by line, which `signal` can cut short. `FileChanged` where
 * the path leads elsewhere by now.
 */
export async function readWindow(
  permit: Permit<"read">,
  workspace: Roots,
  from: ReadFrom,
  options: { signal?: AbortSignal; moments?: Moments } = {},
): Promise<ToolResult | ToolError | FileChanged> {
  const { path } = permit.spend();
  const opened = await openChecked(workspace, path, "file", options.moments);
  if (opened.kind === "failed") return opened.error;
  if (opened.kind === "moved") return new FileChanged(path.real);
  if (opened.kind === "absent") {
    return new ToolError(`${nameOf(path)} is not there; list_dir shows what is.`);
  }
  const { handle, stats } = opened;
  try {
    const { size } = stats;
    // What is far into the file is read for itself; of the beginning it needs a look alone.
    const far = "offset" in from && from.offset > 0;
    const start = await Start.read(handle, size, far ? BINARY_SNIFF_BYTES : reachOf(READ_BYTES));
    if (start.binary) {
      return new ToolError(
        `${nameOf(path)} is a binary file of ${size} bytes and is not shown. Use run with a program that reads it, where that helps.`,
      );
    }
    const read =
      "line" in from
        ? await readByLine(start, from.line, READ_BYTES, options.signal)
        : await readByOffset(start, from.offset, READ_BYTES);
    return windowText(nameOf(path), read);
  } catch (error) {
    if (options.signal?.aborted === true) return new ToolError("The read was cancelled.");
    return fault(path, error);
  } finally {
    await handle.close();
  }
}
