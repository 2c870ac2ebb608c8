import type { EventBody } from "../session/events.js";
import { digest } from "../workspace/digest.js";
import { markOf } from "../workspace/leftovers.js";
import type { EffectOf } from "../workspace/permit.js";
import { keepChange } from "./keep.js";
import type { GateLedger, UndoChange, UndoRequest } from "./ports.js";

/** A copy that nobody else can change. */
export function copyOfChange(change: UndoChange): UndoChange {
  return {
    ...change,
    path: { ...change.path },
    before: { ...change.before },
    after: change.after === null ? null : Uint8Array.from(change.after),
  };
}

/** What the log says of an undo before it begins, every byte on both sides kept. */
export async function undoStarted(
  ledger: Pick<GateLedger, "keep">,
  { undo, kind, of, surface }: UndoRequest,
  changes: readonly UndoChange[],
): Promise<EventBody> {
  const files = [];
  for (const change of changes) {
    const { choice } = change;
    const kept = await keepChange(ledger, change);
    files.push(choice === undefined ? kept : { ...kept, choice });
  }
  return { type: "undo_started", undo, kind, of, files, surface };
}

/** What a permit for one file of an undo allows, to the byte. */
export function undoEffect(
  undo: string,
  { path, before, after, mode }: UndoChange,
): EffectOf<"write"> | EffectOf<"remove"> {
  if (after !== null) {
    const [was, will, mark] = [before.digest, digest(after), markOf(undo, path.real)];
    const write = { kind: "write", call: undo, path, before: was, after: will, mark } as const;
    return was === null && mode !== undefined ? { ...write, mode } : write;
  }
  if (before.digest === null) throw new Error("a file that is not there cannot be removed");
  return { kind: "remove", call: undo, path, before: before.digest };
}
