import { createHash } from "node:crypto";

/**
 * The hash that the next line of a log carries as `prev`: SHA-256, in lower-case hex, of exactly
 * the bytes of a line in the file, without its newline.
 */
export function lineHash(line: Uint8Array): string {
  return createHash("sha256").update(line).digest("hex");
}

/** A line that was on the disk, flushed, and by which `meta.json` knows how far the log went. */
export interface LogHead {
  readonly seq: number;
  readonly hash: string;
}
