import * as z from "zod/mini";
import type { FromPanel } from "./protocol.js";

const texts = z.catch(z.record(z.string(), z.string()), {});
const savedState = z.object({
  /** What was typed beside Deny or below a question, by the id of either. */
  notes: texts,
  scroll: z.catch(
    z.optional(z.object({ session: z.string(), key: z.string(), offset: z.number() })),
    undefined,
  ),
});
export type SavedState = z.infer<typeof savedState>;

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
let state: SavedState = savedState.safeParse(api.getState()).data ?? { notes: {} };

/** Sends a message to the extension host, which parses it anew. */
export function post(message: FromPanel): void {
  api.postMessage(message);
}

/** What outlives the page: reasons and where the reader was. */
export function saved(): SavedState {
  return state;
}

/** Keeps what is to outlive the page. */
export function save(change: Partial<SavedState>): void {
  state = { ...state, ...change };
  api.setState(state);
}

type Texts = Readonly<Record<string, string>>;

function withText(texts: Texts, key: string, text: string): Texts {
  const { [key]: _, ...others } = texts;
  return text === "" ? others : { ...others, [key]: text };
}

/** What stands in a card's field for a reason, or in a question's for an answer, in this moment. */
export function noteOf(key: string): string {
  return state.notes[key] ?? "";
}

/** Keeps what was typed into such a field; an empty one is forgotten. */
export function saveNote(key: string, text: string): void {
  save({ notes: withText(state.notes, key, text) });
}

let drafts: Texts = {};

/** Takes the drafts that the host kept, for a page that has just come up. */
export function useDrafts(kept: Texts): void {
  drafts = kept;
}

/** What stands unsent in the composer of a session; "" is the session that is not there yet. */
export function draftOf(session: string): string {
  return drafts[session] ?? "";
}

/** Keeps a draft here and with the host; an empty one is forgotten. */
export function saveDraft(session: string, text: string): void {
  drafts = withText(drafts, session, text);
  post({ type: "draft", session: session === "" ? null : session, text });
}
