import { ARGS_DEPTH, HOOK_BLOCKS, TURN_ANSWERS } from "../limits.js";
import { type ChatAnswer, ChatError } from "../model/chatClient.js";
import type { EventBody, EventOf } from "../session/events.js";
import { LogError } from "../session/log.js";
import type { SessionRecord } from "../session/record.js";
import type { CallState, TurnState } from "../session/state.js";
import { flatEnough, isDeeper } from "./depth.js";
import { endCalls, INTERRUPTED, NOT_BEGUN } from "./recover.js";
import { withOwnNames } from "./request.js";

type Reason = EventOf<"turn_ended">["reason"];

/** What a turn is driven with. Each part rejects with the signal's reason on cancel. */
export interface TurnParts {
  readonly record: SessionRecord;
  readonly signal: AbortSignal;
  /** The model's next answer; rejects with `ChatError`. */
  readonly answer: () => Promise<ChatAnswer>;
  /** One call to its one result; gives back a fault of ours, if there was one. */
  readonly call: (call: CallState) => Promise<{ readonly bug?: unknown }>;
  /** The Stop hooks on a result: undefined where all pass, else what the model is to hear. */
  readonly stopHooks: (result: string) => Promise<string | undefined>;
  readonly report: (message: string) => void;
}

const CUT_CALL =
  "Not done: your answer was cut by its token limit in the middle of this call, so its arguments are not whole. Make the call again, smaller: write a long file in several steps.";

/** A turn's end that is not the model's own. */
class Stop {
  constructor(
    readonly reason: Reason,
    readonly message?: string,
  ) {}
}

function answerEvent(answer: ChatAnswer, record: SessionRecord): EventBody {
  const { text, usage, stop, reasoning, extra } = answer;
  return {
    type: "model_answered",
    text,
    calls: withOwnNames(answer.calls.map(flatEnough), record.facts.callNames).map((call) => ({
      ...call,
    })),
    stop,
    ...(usage === undefined ? {} : { usage }),
    ...(reasoning === undefined || reasoning === "" ? {} : { reasoning }),
    ...(extra === undefined || isDeeper(extra.data, ARGS_DEPTH) ? {} : { extra }),
  };
}

async function runCalls(parts: TurnParts, turn: TurnState): Promise<void> {
  const { record, signal } = parts;
  const cut = turn.lastAnswer?.stop === "length";
  for (const call of turn.calls) {
    if (call.ended) continue;
    if (turn.result !== undefined) {
      await endCalls(record, "not done: the turn is finished");
      return;
    }
    signal.throwIfAborted();
    if (call.started) {
      // Its effect began and its end could not be logged: it is never run a second time.
      const ended = {
        type: "call_ended",
        call: call.call,
        ok: false,
        result: INTERRUPTED,
      } as const;
      await record.append({ ...ended, turn: turn.turn });
      continue;
    }
    if (cut && call.args === null) {
      const ended = { type: "call_ended", call: call.call, ok: false, result: CUT_CALL } as const;
      await record.append({ ...ended, turn: turn.turn });
      continue;
    }
    const { bug } = await parts.call(call);
    if (bug === undefined) continue;
    if (bug instanceof LogError) throw bug;
    throw new Error("a call could not be carried out", { cause: bug });
  }
}

/** An answer without calls ends the turn as `finish` does, unless a Stop hook has more to say. */
async function finishWith(parts: TurnParts, turn: TurnState, text: string): Promise<void> {
  if ((await parts.stopHooks(text)) !== undefined) return;
  await parts.record.append({ type: "result", turn: turn.turn, text }, { flush: true });
}

/** Goes on until the turn is over. What comes next follows from the log alone, so it can begin anywhere. */
async function drive(parts: TurnParts, turn: TurnState): Promise<Stop> {
  const { record, signal } = parts;
  for (;;) {
    await runCalls(parts, turn);
    signal.throwIfAborted();
    const last = turn.lastAnswer;
    const said = last !== undefined && last.calls.length === 0 && !turn.hookSpoke;
    const empty = said && last.text.trim() === "";
    if (turn.result !== undefined) {
      return new Stop("finished", empty ? "The model answered with nothing." : undefined);
    }
    if (turn.blocks >= HOOK_BLOCKS) {
      return new Stop("limit", `Stop hooks blocked the end of this turn ${HOOK_BLOCKS} times.`);
    }
    if (said && last.stop === "length") {
      return new Stop("limit", "The model's answer was cut by its token limit.");
    }
    if (said) {
      await finishWith(parts, turn, last.text);
      continue;
    }
    if (turn.answers >= TURN_ANSWERS) {
      return new Stop("limit", `The turn ended after ${TURN_ANSWERS} answers of the model.`);
    }
    const answer = await parts.answer();
    signal.throwIfAborted();
    await record.append({ ...answerEvent(answer, record), turn: turn.turn });
  }
}

function stopFor(error: unknown, parts: TurnParts): Stop {
  const { signal, report } = parts;
  if (signal.aborted) return new Stop("cancelled");
  if (error instanceof ChatError) return new Stop("failed", error.message);
  report(`the turn failed: ${error instanceof Error ? describe(error) : String(error)}`);
  return new Stop("failed", "Internal error; the output channel has more of it.");
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `\nbecause of ${error.cause.stack}` : "";
  return `${error.stack}${cause}`;
}

/**
 * Drives the open turn of a session to its end and writes that down. Gives the reason. Rejects
 * with `LogError` where the log cannot be written, and with the signal's reason where that is
 * `leave`: the host goes away, and the turn is left as it is in the log.
 */
export async function driveTurn(
  parts: TurnParts,
  leave: (reason: unknown) => boolean,
): Promise<Reason> {
  const { record, signal } = parts;
  const { turn } = record.facts;
  if (turn === undefined || turn.ended !== undefined) throw new Error("there is no open turn");
  let stop: Stop;
  try {
    stop = await drive(parts, turn);
  } catch (error) {
    if (signal.aborted && leave(signal.reason)) throw signal.reason;
    stop = error instanceof LogError ? new Stop("failed", error.message) : stopFor(error, parts);
  }
  await endCalls(record, stop.reason === "cancelled" ? "cancelled" : NOT_BEGUN);
  const { reason, message } = stop;
  await record.append(
    { type: "turn_ended", turn: turn.turn, reason, ...(message === undefined ? {} : { message }) },
    { flush: true },
  );
  return reason;
}
