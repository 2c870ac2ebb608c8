import { type SessionFacts, turnIsOpen } from "../session/state.js";
import { GO_ON } from "./transcript.js";
import type { Begin } from "./turns.js";

/**
 * What "go on" starts where no turn runs: the open turn from where it is, else a turn that goes on
 * with one that was cut short, else the first queued ask, else one after a cancelled turn.
 * Undefined where there is nothing to go on with. `nextQueued` takes the ask out of the queue.
 */
export function whatGoesOn(
  facts: SessionFacts,
  nextQueued: () => Begin | undefined,
): Begin | undefined {
  if (turnIsOpen(facts)) return { kind: "resume" };
  const { turn } = facts;
  const reason = turn?.ended?.reason;
  const cutShort = reason === "failed" || reason === "limit" || reason === "interrupted";
  if (!cutShort) {
    const next = nextQueued();
    if (next !== undefined) return next;
  }
  if (turn === undefined || reason === undefined || reason === "finished") return undefined;
  return { kind: "ask", text: GO_ON, goesOn: turn.turn };
}
