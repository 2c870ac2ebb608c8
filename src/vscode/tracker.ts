import type { Delta, OtherCard, SessionEvent } from "../core/session/events.js";
import type { LiveSession } from "../core/turn/live.js";
import type { Tokens } from "../webview/protocol.js";

/** Live output kept of one call, in characters. */
const OUTPUT_CHARS = 64 * 1024;

/**
 * What deltas have told since the last event that made them superfluous, gathered, so that a panel
 * that comes up in mid-stream is shown the same as one that watched. Also sums the tokens.
 */
export class Tracker {
  readonly tokens: Tokens = { input: 0, output: 0, cached: 0, estimated: false };
  /** ISO 8601; when the live turn began. */
  since: string | null = null;
  /** Open cards whose file has changed on disk, or is held with unsaved changes. */
  readonly marks = new Map<string, { readonly changed: boolean; readonly unsaved: boolean }>();

  /** Open cards for whose file other sessions have one too. */
  readonly others = new Map<string, readonly OtherCard[]>();

  #text = "";
  #reasoning = "";
  #retry: Delta | undefined;
  readonly #running = new Set<string>();
  readonly #output = new Map<string, string>();

  constructor(session: LiveSession) {
    for (const event of session.events) this.event(event);
    for (const { card, others } of session.openCards) if (others) this.others.set(card, others);
  }

  event(event: SessionEvent): void {
    switch (event.type) {
      case "turn_started":
        this.since = event.at;
        return;
      case "model_answered":
        this.#text = this.#reasoning = "";
        this.#retry = undefined;
        if (event.usage) {
          this.tokens.input += event.usage.input;
          this.tokens.output += event.usage.output;
          this.tokens.cached += event.usage.cached ?? 0;
          this.tokens.estimated ||= event.usage.estimated === true;
        }
        return;
      case "call_ended":
        this.#output.delete(event.call);
        this.#running.delete(event.call);
        return;
      case "card_answered":
      case "card_spent":
      case "card_withdrawn":
        this.marks.delete(event.card);
        this.others.delete(event.card);
        return;
      case "turn_ended":
        this.since = null;
        this.#text = this.#reasoning = "";
        this.#retry = undefined;
        this.#output.clear();
        this.#running.clear();
        return;
      default:
        return;
    }
  }

  delta(delta: Delta): void {
    switch (delta.type) {
      case "text":
        this.#text += delta.text;
        this.#retry = undefined;
        return;
      case "reasoning":
        this.#reasoning += delta.text;
        this.#retry = undefined;
        return;
      case "retry":
        this.#text = this.#reasoning = "";
        this.#retry = delta;
        return;
      case "output":
        this.#output.set(
          delta.call,
          ((this.#output.get(delta.call) ?? "") + delta.text).slice(-OUTPUT_CHARS),
        );
        return;
      case "call_running":
        this.#running.add(delta.call);
        return;
      case "card_changed":
        this.marks.set(delta.card, { changed: delta.changed !== false, unsaved: delta.unsaved });
        return;
      case "card_others":
        this.others.set(delta.card, delta.others);
        return;
      case "state":
        return;
      default:
        delta satisfies never;
    }
  }

  /** The fewest deltas that tell the same. */
  gathered(): Delta[] {
    const deltas: Delta[] = [];
    for (const call of this.#running) deltas.push({ type: "call_running", call });
    for (const [call, text] of this.#output)
      deltas.push({ type: "output", call, stream: "stdout", text });
    for (const [card, mark] of this.marks) deltas.push({ type: "card_changed", card, ...mark });
    for (const [card, others] of this.others) deltas.push({ type: "card_others", card, others });
    if (this.#reasoning !== "") deltas.push({ type: "reasoning", text: this.#reasoning });
    if (this.#text !== "") deltas.push({ type: "text", text: this.#text });
    if (this.#retry) deltas.push(this.#retry);
    return deltas;
  }
}
