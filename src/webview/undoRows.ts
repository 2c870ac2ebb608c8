import type { EventOf } from "../core/session/events.js";
import type { CallItem, Item } from "./items.js";
import { type Undo, UndoState } from "./undos.js";

/** Rows that show whether what they stand for is undone: calls that wrote, ends of turns, undos. */
export class UndoRows {
  readonly #undos = new UndoState();
  readonly #rows = new Set<Item>();
  /** Turns that wrote a file. */
  readonly #wrote = new Set<string>();

  /** Notes that a call of `turn` wrote a file; `row` shows it. */
  wrote(call: CallItem, turn: string, row: Item | undefined): void {
    call.canUndo = { turn };
    this.#wrote.add(turn);
    if (row !== undefined) this.#rows.add(row);
  }

  /** Whether a turn changed files. */
  canUndo(turn: string): boolean {
    return this.#wrote.has(turn);
  }

  add(row: Item): void {
    this.#rows.add(row);
  }

  /**
   * Takes one event in and brings the rows in step. `push` makes the row of an undo that starts.
   */
  apply(
    event: EventOf<"undo_started" | "undo_file" | "undo_ended">,
    push: (undo: Undo) => Item,
  ): void {
    const undo = this.#undos.add(event);
    if (undo === undefined) return;
    if (event.type === "undo_started") this.#rows.add(push(undo));
    for (const row of this.#rows) {
      if (row.kind === "undo" && row.undo.started.undo === event.undo) row.rev++;
      this.#mark(row);
    }
  }

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
}
