import type { Delta } from "../core/session/events.js";
import { CardItems } from "./cardItems.js";
import {
  type Body,
  type CallItem,
  type CardItem,
  type Item,
  newCall,
  type Retry,
} from "./items.js";
import type { ViewEvent } from "./protocol.js";
import { UndoRows } from "./undoRows.js";

/** Live output kept for one call, in characters. */
const OUTPUT_CHARS = 64 * 1024;
const READS = new Set(["read_file", "grep", "list_dir"]);

/** The rows of a session: a function of its events and then of the deltas after them. */
export class Transcript {
  readonly items: Item[] = [];
  retry: Retry | undefined;
  /** The event before which there is nothing here; -1 before the first. */
  firstSeq = -1;
  lastSeq = -1;
  readonly cards = new CardItems();
  readonly #calls = new Map<string, { call: CallItem; item: Item }>();
  readonly #undos = new UndoRows();
  readonly #cardRows = new Map<string, Item>();
  #live: Item | undefined;

  constructor(events: readonly ViewEvent[] = []) {
    for (const event of events) this.apply(event);
  }

  /** The row of a card, to scroll to. */
  rowOfCard(card: string): Item | undefined {
    return this.#cardRows.get(card);
  }

  apply(event: ViewEvent): void {
    if (event.seq <= this.lastSeq) return;
    if (this.firstSeq < 0) this.firstSeq = event.seq;
    this.lastSeq = event.seq;
    switch (event.type) {
      case "turn_started":
        this.#dropLive();
        this.#push(event.seq, {
          kind: "user",
          text: event.text,
          at: event.at,
          cut: event.cut === true,
        });
        return;
      case "model_answered":
        this.#answered(event);
        return;
      case "card_raised":
        this.#raised(event);
        return;
      case "card_edited":
      case "card_answered":
      case "card_spent":
      case "card_withdrawn":
        this.#touchCard(this.cards.apply(event));
        return;
      case "call_started":
        this.#touch(event.call, (call) => {
          call.state = "running";
          call.started = event.at;
          call.byAllow = event.by === "allow";
          if (event.write === undefined) return;
          this.#undos.wrote(call, event.turn ?? "", this.#calls.get(call.call)?.item);
        });
        return;
      case "call_ended":
        this.#touch(event.call, (call) => {
          call.state = event.ok ? "ok" : "failed";
          call.ended = event;
        });
        return;
      case "question":
        this.#touch(event.call, (call) => {
          call.question = { event };
        });
        return;
      case "question_answered":
        this.#touch(event.call, (call) => {
          if (call.question) call.question.answer = event.text;
        });
        return;
      case "hook_ended":
        this.#push(event.seq, { kind: "hook", event });
        return;
      case "result": {
        this.#dropLive();
        // An answer without calls is the result itself: its words are there already.
        const last = this.items.at(-1);
        if (last?.kind === "answer" && last.text === event.text) return;
        this.#push(event.seq, { kind: "result", text: event.text, cut: event.cut === true });
        return;
      }
      case "turn_ended":
        this.#dropLive();
        this.#undos.add(
          this.#push(event.seq, {
            kind: "end",
            event,
            canUndo: this.#undos.canUndo(event.turn ?? ""),
            undone: false,
          }),
        );
        return;
      case "allow_revoked":
        this.#push(event.seq, { kind: "note", event });
        return;
      case "undo_started":
      case "undo_file":
      case "undo_ended":
        this.#undos.apply(event, (undo) =>
          this.#push(event.seq, { kind: "undo", undo, undone: false }),
        );
        return;
      case "session_started":
      case "ask_queued":
      case "ask_withdrawn":
        return;
      default:
        event satisfies never;
    }
  }

  applyDelta(delta: Delta): void {
    switch (delta.type) {
      case "text":
      case "reasoning": {
        this.retry = undefined;
        const live = this.#liveAnswer();
        if (delta.type === "text") live.text += delta.text;
        else live.reasoning += delta.text;
        live.rev++;
        return;
      }
      case "output":
        this.#touch(delta.call, (call) => {
          const text = call.output + delta.text;
          call.output = text.length > OUTPUT_CHARS ? text.slice(-OUTPUT_CHARS) : text;
        });
        return;
      case "retry":
        this.#dropLive();
        this.retry = { at: delta.at, reason: delta.reason };
        return;
      case "call_running":
        this.#touch(delta.call, (call) => {
          if (call.state === "pending") call.state = "running";
        });
        return;
      case "card_changed":
      case "card_others":
        this.#touchCard(this.cards.mark(delta));
        return;
      case "state":
        if (delta.state !== "running") this.retry = undefined;
        return;
      default:
        delta satisfies never;
    }
  }

  /** Takes what only deltas told (live text, output, marks on cards) from the rows of before. */
  carryOver(before: Transcript): void {
    for (const [id, { call }] of before.#calls) {
      const now = this.#calls.get(id);
      if (!now || now.call.ended) continue;
      now.call.output = call.output;
      if (now.call.state === "pending") now.call.state = call.state;
    }
    this.cards.carryOver(before.cards);
    this.retry = before.retry;
    if (before.#live?.kind === "answer" && before.lastSeq === this.lastSeq) {
      const live = this.#liveAnswer();
      live.text = before.#live.text;
      live.reasoning = before.#live.reasoning;
    }
  }

  #push(seq: number, body: Body, suffix = ""): Item {
    const item: Item = { ...body, key: `${seq}${suffix}`, seq, rev: 0 };
    this.items.push(item);
    return item;
  }

  #liveAnswer(): Item & { kind: "answer" } {
    let item = this.#live;
    if (item?.kind !== "answer") {
      item = this.#push(
        this.lastSeq,
        { kind: "answer", text: "", reasoning: "", live: true, cut: false, short: false },
        "-live",
      );
      this.#live = item;
    }
    if (item.kind !== "answer") throw new Error("the live row is an answer");
    return item;
  }

  #dropLive(): void {
    if (!this.#live) return;
    const at = this.items.lastIndexOf(this.#live);
    if (at >= 0) this.items.splice(at, 1);
    this.#live = undefined;
  }

  #answered(event: ViewEvent & { type: "model_answered" }): void {
    this.#dropLive();
    this.retry = undefined;
    if (event.text !== "" || event.reasoning)
      this.#push(event.seq, {
        kind: "answer",
        text: event.text,
        reasoning: event.reasoning ?? "",
        live: false,
        cut: event.cut === true,
        short: event.stop === "length",
      });
    event.calls.forEach((made, index) => {
      const { tool, args, invalid } = made;
      const cutArgs = event.cut === true;
      const call = newCall({ call: made.call, tool, args, invalid, seq: event.seq, cutArgs });
      const last = this.items.at(-1);
      if (READS.has(made.tool) && last?.kind === "reads") {
        last.calls.push(call);
        last.rev++;
        this.#calls.set(made.call, { call, item: last });
        return;
      }
      const item = READS.has(made.tool)
        ? this.#push(event.seq, { kind: "reads", calls: [call] }, `.${index}`)
        : this.#push(event.seq, { kind: "call", call }, `.${index}`);
      this.#calls.set(made.call, { call, item });
    });
  }

  #raised(event: ViewEvent & { type: "card_raised" }): void {
    const card = this.cards.raise(event);
    let found = this.#calls.get(event.call);
    if (!found) {
      // The call is on a page that is not loaded; its card is shown all the same.
      const { tool, seq } = event;
      const unknown = { args: null, invalid: undefined, cutArgs: true };
      const call = newCall({ call: event.call, tool, seq, ...unknown });
      found = { call, item: this.#push(event.seq, { kind: "call", call }) };
      this.#calls.set(event.call, found);
    }
    found.call.cards.push(card);
    found.item.rev++;
    this.#cardRows.set(event.card, found.item);
  }

  #touchCard(card: CardItem | undefined): void {
    if (card !== undefined) this.#touch(card.event.call, () => {});
  }

  #touch(id: string, change: (call: CallItem) => void): void {
    const found = this.#calls.get(id);
    if (!found) return;
    change(found.call);
    found.item.rev++;
  }
}
