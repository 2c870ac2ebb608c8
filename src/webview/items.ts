import type { EventOf, OtherCard } from "../core/session/events.js";
import type { ViewEvent } from "./protocol.js";
import type { Undo } from "./undos.js";

/** A card as the chat shows it, in the call it is of. */
export interface CardItem {
  readonly event: EventOf<"card_raised"> & { readonly cut?: boolean };
  state: "open" | "answered" | "spent" | "withdrawn";
  answered?: EventOf<"card_answered">;
  /** What the user made of the proposal. */
  edit?: EventOf<"card_edited">;
  /** The file is not what it was when the card went up. */
  changed: boolean;
  unsaved: boolean;
  /** Cards of other sessions for the same file. */
  others: readonly OtherCard[];
}

/** A call with all that became of it. */
export interface CallItem {
  readonly call: string;
  readonly tool: string;
  readonly args: Record<string, unknown> | null;
  readonly invalid: string | undefined;
  /** Of the `model_answered` that made it. */
  readonly seq: number;
  readonly cutArgs: boolean;
  state: "pending" | "running" | "ok" | "failed";
  started?: string;
  ended?: ViewEvent & { type: "call_ended" };
  /** Live output, the last of it. */
  output: string;
  readonly cards: CardItem[];
  question?: QuestionItem;
  byAllow: boolean;
  /** It wrote a file and the session has the bytes of before. */
  canUndo?: { readonly turn: string };
  undone?: boolean;
}

/** A question and the user's words for it, once they are there. */
export interface QuestionItem {
  readonly event: EventOf<"question">;
  answer?: string;
}

export type Body =
  | { readonly kind: "user"; readonly text: string; readonly at: string; readonly cut: boolean }
  | {
      readonly kind: "answer";
      text: string;
      reasoning: string;
      live: boolean;
      readonly cut: boolean;
      readonly short: boolean;
    }
  | { readonly kind: "call"; readonly call: CallItem }
  | { readonly kind: "reads"; readonly calls: CallItem[] }
  | { readonly kind: "hook"; readonly event: EventOf<"hook_ended"> }
  | { readonly kind: "result"; readonly text: string; readonly cut: boolean }
  | {
      readonly kind: "end";
      readonly event: EventOf<"turn_ended">;
      /** It changed files, and the session has the bytes of before. */
      canUndo: boolean;
      undone: boolean;
    }
  | { readonly kind: "undo"; readonly undo: Undo; undone: boolean }
  | { readonly kind: "note"; readonly event: EventOf<"allow_revoked"> };

/** One row of the transcript; `rev` grows with every change of it. */
export type Item = Body & { readonly key: string; readonly seq: number; rev: number };

/** A request that is made again, and when (ISO time). */
export interface Retry {
  readonly at: string;
  readonly reason: string;
}

/** A call of which nothing is known but what the model said of it. */
export function newCall(
  made: Pick<CallItem, "call" | "tool" | "args" | "invalid" | "seq" | "cutArgs">,
): CallItem {
  return { ...made, state: "pending", output: "", cards: [], byAllow: false };
}

/** Calls that show as what they bring about, not as a line. */
const SILENT = new Set(["ask", "finish"]);

/** Whether a row has nothing to show: a call that is told by what it brought about. */
export function isSilent(item: Item): boolean {
  return (
    item.kind === "call" &&
    SILENT.has(item.call.tool) &&
    item.call.state !== "failed" &&
    item.call.question === undefined
  );
}
