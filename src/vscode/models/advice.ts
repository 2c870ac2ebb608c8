import type { Advice } from "../../core/model/errors.js";

/** What this host's commands are called in errors. */
export const ADVICE: Advice = {
  setKey: "with “Set API Key…”",
  pickModel: "with “Select Model…”",
};
