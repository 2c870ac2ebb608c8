import type { Delta, EventOf, OtherCard } from "../core/session/events.js";
import {
  type Body,
  type CallItem,
  type CardItem,
  type Item,
  newCall,
  type Retry,
} from "./items.js";
import type { ViewEvent } from "./protocol.js";
import { UndoState } from "./undos.js";

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
  readonly cards = new Map<string, CardItem>();
  readonly #calls = new Map<string, { call: CallItem; item: Item }>();
  readonly #undos = new UndoState();
  /** Rows that show whether what they stand for is undone. */
  readonly #undoRows = new Set<Item>();
  /** Turns that wrote a file. */
  readonly #wrote = new Set<string>();
  readonly #cardRows = new Map<string, Item>();
  /** Marks on cards that are on their way: a card is open before it is in the log. */
  readonly #early = new Map<string, { changed: boolean; unsaved: boolean }>();
  readonly #earlyOthers = new Map<string, readonly OtherCard[]>();
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
        this.#edited(event);
        return;
      case "card_answered":
      case "card_spent":
      case "card_withdrawn":
        this.#settled(event);
        return;
      case "call_started":
        this.#touch(event.call, (call) => {
          call.state = "running";
          call.started = event.at;
          call.byAllow = event.by === "allow";
          if (event.write !== undefined) this.#writes(call, event.turn ?? "");
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
        this.#undoRows.add(
          this.#push(event.seq, {
            kind: "end",
            event,
            canUndo: this.#wrote.has(event.turn ?? ""),
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
        this.#undo(event);
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
      case "card_changed": {
        const card = this.cards.get(delta.card);
        if (!card) {
          this.#early.set(delta.card, {
            changed: delta.changed !== false,
            unsaved: delta.unsaved,
          });
          return;
        }
        card.changed = delta.changed !== false;
        card.unsaved = delta.unsaved;
        this.#touch(card.event.call, () => {});
        return;
      }
      case "card_others": {
        const card = this.cards.get(delta.card);
        if (!card) {
          this.#earlyOthers.set(delta.card, delta.others);
          return;
        }
        card.others = delta.others;
        this.#touch(card.event.call, () => {});
        return;
      }
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
    for (const [id, card] of before.cards) {
      const now = this.cards.get(id);
      if (now) {
        now.changed = card.changed;
        now.unsaved = card.unsaved;
        now.others = card.others;
      }
    }
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
    const marks = this.#early.get(event.card) ?? { changed: false, unsaved: false };
    const others = this.#earlyOthers.get(event.card) ?? [];
    const card: CardItem = { event, state: "open", ...marks, others };
    const replaced = event.replaces === undefined ? undefined : this.cards.get(event.replaces);
    if (replaced?.state === "open") replaced.state = "withdrawn";
    this.cards.set(event.card, card);
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

  #edited(event: EventOf<"card_edited">): void {
    const card = this.cards.get(event.card);
    if (!card) return;
    if (event.reverted === true) delete card.edit;
    else card.edit = event;
    this.#touch(card.event.call, () => {});
  }

  #writes(call: CallItem, turn: string): void {
    call.canUndo = { turn };
    this.#wrote.add(turn);
    const row = this.#calls.get(call.call)?.item;
    if (row !== undefined) this.#undoRows.add(row);
  }

  #undo(event: EventOf<"undo_started" | "undo_file" | "undo_ended">): void {
    const undo = this.#undos.add(event);
    if (undo === undefined) return;
    if (event.type === "undo_started") {
      this.#undoRows.add(this.#push(event.seq, { kind: "undo", undo, undone: false }));
    }
    for (const row of this.#undoRows) {
      if (row.kind === "undo" && row.undo.started.undo === event.undo) row.rev++;
      this.#mark(row);
    }
  }

  /** Brings a row in step with what is undone now. */
  #mark(row: Item): void {
    const undone = this.#isUndone(row);
    if (row.kind === "call") {
      if (row.call.undone === undone) return;
      row.call.undone = undone;
    } else if (row.kind === "end" || row.kind === "undo") {
      if (row.undone === undone) return;
      row.undone = undone;
    }
    row.rev++;
  }

  #isUndone(row: Item): boolean {
    switch (row.kind) {
      case "call":
        return (
          this.#undos.isUndone("call", row.call.call) ||
          this.#undos.isUndone("turn", row.call.canUndo?.turn ?? "")
        );
      case "end":
        return this.#undos.isUndone("turn", row.event.turn ?? "");
      case "undo":
        return this.#undos.isUndone("undo", row.undo.started.undo);
      default:
        return false;
    }
  }

  #settled(event: EventOf<"card_answered" | "card_spent" | "card_withdrawn">): void {
    const card = this.cards.get(event.card);
    if (!card) return;
    if (event.type === "card_answered") {
      card.state = "answered";
      card.answered = event;
    } else card.state = event.type === "card_spent" ? "spent" : "withdrawn";
    this.#touch(card.event.call, () => {});
  }

  #touch(id: string, change: (call: CallItem) => void): void {
    const found = this.#calls.get(id);
    if (!found) return;
    change(found.call);
    found.item.rev++;
  }
}
