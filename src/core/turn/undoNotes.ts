import type { EventOf } from "../session/events.js";

/** Files that one note names; the rest are counted. */
const MOST_NAMES = 50;

interface Note {
  readonly started: EventOf<"undo_started">;
  readonly restored: string[];
  readonly removed: string[];
}

/** A path that cannot be taken for words of the note. */
function names(paths: readonly string[]): string {
  const shown = paths.slice(0, MOST_NAMES).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const WHAT = {
  turn: "undid changes of a turn",
  call: "undid a change of yours",
  undo: "brought changes back that had been undone",
} as const;

function words({ started, restored, removed }: Note): string {
  const files = [
    ...(restored.length > 0 ? [`Written again as they were before: ${names(restored)}.`] : []),
    ...(removed.length > 0 ? [`Removed: ${names(removed)}.`] : []),
  ];
  const merged = started.files.some(({ choice }) => choice === "merge")
    ? " Some were merged with later changes: read them before you edit them."
    : "";
  return `[Note: the user ${WHAT[started.kind]}. ${files.join(" ")}${merged} What commands did was not undone. Do not make these changes again unless you are asked to.]`;
}

/** What the model is to hear, with the next ask, of what the user undid in the meantime. */
export class UndoNotes {
  #notes: Note[] = [];

  add(event: EventOf<"undo_started"> | EventOf<"undo_file">): void {
    if (event.type === "undo_started") {
      this.#notes.push({ started: event, restored: [], removed: [] });
      return;
    }
    const note = this.#notes.find(({ started }) => started.undo === event.undo);
    if (note === undefined || event.outcome === "failed") return;
    const file = note.started.files.find(({ path }) => path === event.path);
    note[event.outcome].push(file?.relative ?? event.path);
  }

  /** The notes since the last time, as one text; undefined where there are none. */
  take(): string | undefined {
    const told = this.#notes.filter(
      ({ restored, removed }) => restored.length + removed.length > 0,
    );
    this.#notes = [];
    return told.length === 0 ? undefined : told.map(words).join("\n");
  }
}
