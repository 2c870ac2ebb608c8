import type { Status } from "../../src/webview/protocol.js";

/** A session at rest, as the panel is told of it. */
export const AT_REST: NonNullable<Status["session"]> = {
  id: "s",
  title: "New session",
  folder: "w",
  state: "idle",
  readOnly: null,
  trouble: null,
  damage: [],
  queue: [],
  cards: [],
  question: null,
  allows: 0,
  since: null,
  tokens: { input: 0, output: 0, cached: 0, estimated: false },
};
