import type { EventOf } from "../core/session/events.js";

export interface UndoneFile {
  readonly name: string;
  readonly file: EventOf<"undo_file"> | undefined;
}

/** One undo of the session, as far as it has come. */
export interface Undo {
  readonly started: EventOf<"undo_started">;
  readonly files: Map<string, UndoneFile>;
  ended: EventOf<"undo_ended"> | undefined;
}

/** What is undone now: a function of the undo events alone. */
export class UndoState {
  readonly #undos = new Map<string, Undo>();

  /** Takes one event in; gives the undo that it belongs to. */
  add(event: EventOf<"undo_started" | "undo_file" | "undo_ended">): Undo | undefined {
    if (event.type === "undo_started") {
      const files = new Map(
        event.files.map(({ path, relative }) => [
          path,
          { name: relative ?? path, file: undefined },
        ]),
      );
      const undo: Undo = { started: event, files, ended: undefined };
      if (!this.#undos.has(event.undo)) this.#undos.set(event.undo, undo);
      return undo;
    }
    const undo = this.#undos.get(event.undo);
    if (undo === undefined) return undefined;
    if (event.type === "undo_ended") undo.ended = event;
    else {
      const { name } = undo.files.get(event.path) ?? { name: event.path };
      undo.files.set(event.path, { name, file: event });
    }
    return undo;
  }

  /** Whether something is taken back now, in whole or in part, and not brought back since. */
  isUndone(kind: "turn" | "call" | "undo", id: string): boolean {
    for (const { started, files } of this.#undos.values()) {
      if (started.kind !== kind || started.of !== id || started.undo === id) continue;
      const effective = [...files.values()].some(
        ({ file }) => file !== undefined && file.outcome !== "failed",
      );
      if (effective && !this.isUndone("undo", started.undo)) return true;
    }
    return false;
  }
}
