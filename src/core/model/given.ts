import { MODEL_IDLE_LONGEST_S, MODEL_IDLE_MS, MODEL_IDLE_SHORTEST_S } from "../limits.js";

/** The limits of a model's answers that a user may set. */
export interface ModelLimits {
  /** Tokens of one answer at most; undefined where the user does not say. */
  readonly maxTokens: number | undefined;
  /** The context window in tokens; undefined where the user does not say. */
  readonly contextTokens: number | undefined;
  /** Silence in milliseconds after which an answer counts as broken. */
  readonly idleMs: number;
}

/** Limits as a user's settings give them: 0 and whatever is no count says nothing. */
export function modelLimits(given: {
  readonly maxTokens?: unknown;
  readonly contextTokens?: unknown;
  /** Seconds. */
  readonly idleTimeout?: unknown;
}): ModelLimits {
  const seconds = count(given.idleTimeout) ?? MODEL_IDLE_MS / 1000;
  return {
    maxTokens: count(given.maxTokens),
    contextTokens: count(given.contextTokens),
    idleMs: Math.min(MODEL_IDLE_LONGEST_S, Math.max(MODEL_IDLE_SHORTEST_S, seconds)) * 1000,
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}
