import * as z from "zod/mini";
import type { FromPanel } from "./protocol.js";

const texts = z.catch(z.record(z.string(), z.string()), {});
const savedState = z.object({
  /** Unsent text by session id; "" is the session that is not there yet. */
  drafts: texts,
  /** Reasons typed beside Deny, by card. */
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
let state: SavedState = savedState.safeParse(api.getState()).data ?? { drafts: {}, notes: {} };

export function post(message: FromPanel): void {
  api.postMessage(message);
}

/** What outlives the page: drafts and where the reader was. */
export function saved(): SavedState {
  return state;
}

export function save(change: Partial<SavedState>): void {
  state = { ...state, ...change };
  api.setState(state);
}

/** Keeps an unsent text; an empty one is forgotten. */
export function saveText(kind: "drafts" | "notes", key: string, text: string): void {
  const all = { ...state[kind] };
  if (text === "") delete all[key];
  else all[key] = text;
  save({ [kind]: all });
}
