import { z } from "zod";
import type { FromPanel } from "./protocol.js";

const savedState = z.object({
  /** Unsent text by session id; "" is the session that is not there yet. */
  drafts: z.record(z.string(), z.string()).catch({}),
  /** Reasons typed beside Deny, by card. */
  notes: z.record(z.string(), z.string()).catch({}),
  scroll: z
    .object({ session: z.string(), key: z.string(), offset: z.number() })
    .optional()
    .catch(undefined),
});
export type SavedState = z.infer<typeof savedState>;

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
let state: SavedState = savedState
  .catch({ drafts: {}, notes: {} })
  .parse(api.getState() ?? { drafts: {}, notes: {} });

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
