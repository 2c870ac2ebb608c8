import type { SessionRecord } from "../session/record.js";
import { turnIsOpen } from "../session/state.js";
import { markOf, removeLeftovers } from "../workspace/leftovers.js";

/** The absolute real path that a call had begun to write, or undefined where it was no write. */
function writtenBy(record: SessionRecord, call: string): string | undefined {
  for (let index = record.events.length - 1; index >= 0; index--) {
    const event = record.events[index];
    if (event?.type === "turn_started") return undefined;
    if (event?.type !== "call_started" || event.call !== call) continue;
    if (event.allow !== undefined) return "write" in event.allow ? event.allow.write : undefined;
    const raised = record.events.findLast(
      (other) => other.type === "card_raised" && other.card === event.card,
    );
    return raised?.type === "card_raised" && raised.kind === "write" ? raised.path : undefined;
  }
  return undefined;
}

/**
 * Takes away the temporary files of writes that an earlier host was killed in. Only for a session
 * that this process has the lock of: a host that lives still writes. Rejects with the error of the
 * disk.
 */
export async function sweep(record: SessionRecord): Promise<void> {
  const { turn } = record.facts;
  if (turn === undefined || !turnIsOpen(record.facts)) return;
  for (const { call, started, ended } of turn.calls) {
    if (!started || ended) continue;
    const file = writtenBy(record, call);
    if (file !== undefined) await removeLeftovers(file, markOf(turn.turn, call));
  }
}
