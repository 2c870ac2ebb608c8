import type { SessionRecord } from "../session/record.js";
import type { CallState } from "../session/state.js";
import { denied } from "./call.js";

/** The result of a call whose effect had begun when the host stopped. */
export const INTERRUPTED = "interrupted: it may or may not have happened";
/** The result of a call that was never begun, in a turn that came to its end. */
export const NOT_BEGUN = "cancelled: it was not begun";

async function endCall(
  record: SessionRecord,
  turn: string,
  call: CallState,
  ending: { ok: boolean; result: string },
): Promise<void> {
  if (call.openCard !== undefined) {
    await record.append({ type: "card_withdrawn", turn, card: call.openCard }, { flush: true });
  }
  await record.append({ type: "call_ended", turn, call: call.call, ...ending });
}

/** Gives every call of the open turn that has no result this one. Rejects with `LogError`. */
export async function endCalls(record: SessionRecord, result: string): Promise<void> {
  const { turn } = record.facts;
  if (turn === undefined) return;
  for (const call of turn.calls) {
    if (call.ended) continue;
    const happened = call.started ? INTERRUPTED : result;
    await endCall(record, turn.turn, call, { ok: false, result: happened });
  }
}

/**
 * Writes down what is certain about a turn that an earlier host left: a call whose effect had
 * begun is never run again, a denial is a denial, and a turn that had its result is over. What is
 * left open is a card, a question, or a turn to go on with. Rejects with `LogError`.
 */
export async function settle(record: SessionRecord): Promise<void> {
  const { turn } = record.facts;
  if (turn === undefined || turn.ended !== undefined) return;
  const over = turn.result !== undefined;
  for (const call of turn.calls) {
    if (call.ended) continue;
    if (call.started) {
      await endCall(record, turn.turn, call, { ok: false, result: INTERRUPTED });
    } else if (call.answer?.answer === "deny") {
      await endCall(record, turn.turn, call, denied(call.answer));
    } else if (over && call.tool === "finish") {
      await endCall(record, turn.turn, call, { ok: true, result: "The turn is finished." });
    } else if (over) {
      await endCall(record, turn.turn, call, { ok: false, result: NOT_BEGUN });
    }
  }
  if (over) {
    const reason = "finished";
    await record.append({ type: "turn_ended", turn: turn.turn, reason }, { flush: true });
  }
}

/** Whether the open turn waits for a person, and can be taken up where it was without being told to. */
export function waitsForSomeone(record: SessionRecord): boolean {
  const { turn } = record.facts;
  if (turn === undefined || turn.ended !== undefined) return false;
  const next = turn.calls.find((call) => !call.ended);
  if (next === undefined || next.started) return false;
  if (next.question !== undefined) return next.reply === undefined;
  // An answer whose effect had not begun is asked for again: the disk may have changed since.
  return next.lastCard !== undefined;
}
