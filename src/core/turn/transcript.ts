import type { Message, ModelCall, ProviderData } from "../model/chatClient.js";
import type { EventOf, SessionEvent } from "../session/events.js";

import { UndoNotes } from "./undoNotes.js";

/** Stands for a result that is not in the log. */
const LOST = "interrupted: it may or may not have happened; look before you do it again";
/** Stands for the model's words where a turn ended before it said any. */
const STOPPED = "(The turn was stopped here.)";

/** Stands for an ask whose line in the log is damaged: an answer of the model follows a message. */
const LOST_ASK = "(What the user said here is lost.)";

interface Slot {
  readonly index: number;
  filled: boolean;
}

/** What a turn that goes on after its end adds where the model must be spoken to. */
export const GO_ON = "Go on.";

/** One blocking hook in words: a verdict, or why there is none. */
export function hookVerdict(
  hook: Pick<EventOf<"hook_ended">, "argv" | "exit" | "fault" | "output">,
): string {
  const name = hook.argv.join(" ");
  const output = hook.output === undefined || hook.output === "" ? "" : `\n${hook.output}`;
  if (hook.fault !== undefined) {
    return `The Stop hook "${name}" gave no verdict: ${hook.fault}. The turn is not over.${output}`;
  }
  return `The Stop hook "${name}" blocked the end of the turn (exit ${hook.exit}). See to this, then finish again.${output}`;
}

/** A transcript in the making, one event after the other. */
export class Transcript {
  readonly messages: Message[] = [];
  readonly #slots = new Map<string, Slot>();
  #noCalls = false;
  readonly #undos = new UndoNotes();
  #endReason: EventOf<"turn_ended">["reason"] | undefined;

  add(event: SessionEvent): void {
    switch (event.type) {
      case "turn_started":
        this.#startTurn(event);
        break;
      case "model_answered":
        this.#takeAnswer(event);
        break;
      case "call_ended":
        this.#endCall(event);
        break;
      case "hook_ended":
        this.#endHook(event);
        break;
      case "turn_ended":
        this.#endTurn(event);
        break;
      case "undo_started":
      case "undo_file":
        this.#undos.add(event);
        break;
      default:
        break;
    }
  }

  #startTurn(event: EventOf<"turn_started">): void {
    const last = this.messages.at(-1);
    const again = event.goesOn !== undefined;
    const reason = this.#endReason;
    // A request that failed, or was stopped by a limit, is made again as it was.
    const undone = this.#undos.take();
    const asIs = reason === "failed" || reason === "limit";
    if (again && last?.role !== "assistant" && asIs && undone === undefined) return;
    // Roles take turns: some models refuse two messages of the user's in a row.
    if (last !== undefined && last.role !== "assistant") {
      this.messages.push({ role: "assistant", text: STOPPED, calls: [] });
    }
    const text = event.text.trim() === "" ? GO_ON : event.text;
    this.messages.push({
      role: "user",
      text: undone === undefined ? text : `${undone}\n\n${text}`,
    });
  }

  #takeAnswer(event: EventOf<"model_answered">): void {
    const calls = event.calls
      .filter(({ call }) => !this.#slots.has(call))
      .map(
        ({ call, tool, args, invalid }): ModelCall => ({
          call,
          tool,
          args,
          ...(invalid === undefined ? {} : { invalid }),
        }),
      );
    this.#noCalls = calls.length === 0;
    // Nothing is not sent back: providers refuse empty content.
    if (calls.length === 0 && event.text.trim() === "") return;
    const before = this.messages.at(-1);
    if (before === undefined || before.role === "assistant") {
      this.messages.push({ role: "user", text: LOST_ASK });
    }
    const extra: ProviderData | undefined = event.extra && {
      provider: event.extra.provider,
      data: event.extra.data,
    };
    this.messages.push({
      role: "assistant",
      text: event.text,
      calls,
      ...(extra === undefined ? {} : { extra }),
    });
    for (const { call } of calls) {
      this.#slots.set(call, { index: this.messages.length, filled: false });
      this.messages.push({ role: "tool", call, ok: false, text: LOST });
    }
  }

  #endCall(event: EventOf<"call_ended">): void {
    const slot = this.#slots.get(event.call);
    if (slot === undefined || slot.filled) return;
    slot.filled = true;
    const text = event.result === "" ? "(no output)" : event.result;
    this.messages[slot.index] = { role: "tool", call: event.call, ok: event.ok, text };
  }

  #endHook(event: EventOf<"hook_ended">): void {
    // With a call it is the result of `finish`; without one the model is told like this.
    if (event.exit === 0 || !this.#noCalls) return;
    if (this.messages.at(-1)?.role !== "assistant") {
      this.messages.push({ role: "assistant", text: STOPPED, calls: [] });
    }
    this.messages.push({ role: "user", text: hookVerdict(event) });
  }

  #endTurn(event: EventOf<"turn_ended">): void {
    this.#endReason = event.reason;
  }
}

/**
 * What the model is sent, as a function of the log alone: each call with exactly one result right
 * after its answer, no empty content, and the messages of one request the beginning of the next.
 */
export function transcript(events: Iterable<SessionEvent>): readonly Message[] {
  const made = new Transcript();
  for (const event of events) made.add(event);
  return made.messages;
}
