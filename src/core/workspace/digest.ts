import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

/** SHA-256 of `bytes` in lower-case hex: what a card stores and an effect compares. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The same of an open file of any size, from its start, in little memory. */
export async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}
