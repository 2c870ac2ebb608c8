import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { EventOf } from "../core/session/events.js";
import { block, fenced, oneLine } from "./show.js";

/** A tool call that the client was asked about, and what its files' changes look like, by path. */
export interface AskedUndo {
  readonly call: string;
  readonly diffs: ReadonlyMap<string, ToolCallContent>;
}

interface Told {
  readonly call: string;
  readonly diffs: ReadonlyMap<string, ToolCallContent>;
  readonly names: ReadonlyMap<string, string>;
  readonly lines: string[];
  readonly done: ToolCallContent[];
  succeeded: boolean;
}

type UndoEvent = EventOf<"undo_started"> | EventOf<"undo_file"> | EventOf<"undo_ended">;

const TITLES = { turn: "Undo a turn", call: "Undo a change", undo: "Bring undone changes back" };

/** Undos as tool calls: the one that the client was asked about, or one of their own. */
export class UndoUpdates {
  readonly #told = new Map<string, Told>();
  #asked: AskedUndo | undefined;

  /** The next undo that starts is this one; undefined where none is on its way. */
  expect(asked: AskedUndo | undefined): void {
    this.#asked = asked;
  }

  event(event: UndoEvent): SessionUpdate[] {
    switch (event.type) {
      case "undo_started":
        return [this.#started(event)];
      case "undo_file": {
        const told = this.#told.get(event.undo);
        if (told === undefined) return [];
        const name = oneLine(told.names.get(event.path) ?? event.path, 4096);
        told.lines.push(`${name}: ${outcomeOf(event)}`);
        if (event.outcome === "failed") return [];
        told.succeeded = true;
        const diff = told.diffs.get(event.path);
        if (diff !== undefined) told.done.push(diff);
        return [];
      }
      case "undo_ended":
        return this.#ended(event);
    }
  }

  #started(event: EventOf<"undo_started">): SessionUpdate {
    const asked = this.#asked;
    this.#asked = undefined;
    const call = asked?.call ?? `undo-${event.undo}`;
    const names = new Map(event.files.map(({ path, relative }) => [path, relative ?? path]));
    const diffs = asked?.diffs ?? new Map<string, ToolCallContent>();
    this.#told.set(event.undo, { call, diffs, names, lines: [], done: [], succeeded: false });
    const status = "in_progress";
    if (asked !== undefined) return { sessionUpdate: "tool_call_update", toolCallId: call, status };
    return {
      sessionUpdate: "tool_call",
      toolCallId: call,
      title: TITLES[event.kind],
      kind: "edit",
      status,
      locations: event.files.map(({ path }) => ({ path })),
    };
  }

  #ended(event: EventOf<"undo_ended">): SessionUpdate[] {
    const told = this.#told.get(event.undo);
    if (told === undefined) return [];
    this.#told.delete(event.undo);
    const { call, lines, done, succeeded } = told;
    if (event.reason === "interrupted") lines.push("The undo was interrupted.");
    return [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: call,
        status: succeeded ? "completed" : "failed",
        content: [...done, block(fenced(lines.join("\n")))],
      },
    ];
  }
}

/** What became of a file, in words. */
export function outcomeOf(
  file: Pick<EventOf<"undo_file">, "outcome" | "trash" | "message">,
): string {
  switch (file.outcome) {
    case "restored":
      return "restored";
    case "removed":
      return file.trash ? "removed, to the trash" : "removed";
    case "failed":
      return `not done. ${file.message ?? ""}`.trimEnd();
  }
}
