import type { FileChange } from "../session/events.js";
import type { GateLedger, KnownChange } from "./ports.js";

/**
 * Keeps the bytes on both sides of a change, so that it can be undone whatever becomes of it, and
 * gives what the log says of it. Rejects where they cannot be kept: then it must not be made.
 */
export async function keepChange(
  ledger: Pick<GateLedger, "keep">,
  { path, before, after }: KnownChange,
): Promise<FileChange> {
  return {
    path: path.real,
    ...(path.kind === "inside" ? { relative: path.relative } : {}),
    before: before.bytes === null ? null : await ledger.keep(before.bytes),
    after: after === null ? null : await ledger.keep(after),
    ...(before.mode === null ? {} : { mode: before.mode & 0o777 }),
  };
}
