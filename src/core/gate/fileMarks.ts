import { basename } from "node:path";
import type { Delta } from "../session/events.js";
import { sameBytes } from "./disk.js";
import { isOpen, type Pending } from "./pending.js";

/**
 * Looks again at the files of open cards that bear the name of one of `paths` (in any spelling),
 * and says with a delta what became of each card's file.
 */
export async function tellChanged(
  cards: readonly Pending[],
  paths: readonly string[],
  emit: (delta: Delta) => void,
): Promise<void> {
  const names = new Set(paths.map((path) => basename(path).toLowerCase()));
  for (const pending of cards) {
    const { prepared, request, card } = pending;
    if (prepared.kind !== "write" || !isOpen(pending)) continue;
    if (!names.has(basename(prepared.path.real).toLowerCase())) continue;
    const changed = !(await sameBytes(request.workspace, prepared));
    const unsaved = request.workspace.unsaved().has(prepared.path.real);
    const { told } = pending;
    if (!isOpen(pending) || (told.changed === changed && told.unsaved === unsaved)) continue;
    pending.told = { changed, unsaved };
    emit({ type: "card_changed", card, changed, unsaved });
  }
}
