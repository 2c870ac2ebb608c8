import type { SessionState } from "../session/events.js";
import { LogError } from "../session/log.js";
import type { SessionFacts } from "../session/state.js";
import type { AskOutcome } from "./live.js";

interface Gone {
  readonly outcome: "gone";
  readonly message: string;
}

/** Why a message was not taken, for the user. */
export function refused(message: string): AskOutcome {
  return { outcome: "refused", message };
}

/** Why a session takes no message now, or undefined. */
export function whyNoAsk(
  readOnly: string | undefined,
  state: SessionState,
  facts: SessionFacts,
): string | undefined {
  if (readOnly !== undefined || state !== "waiting") return readOnly;
  return facts.question === undefined
    ? "A card is open: approve or deny it first, or cancel the turn."
    : "A question is open: answer it first, or cancel the turn.";
}

/** What comes of a message; a log that cannot be written refuses it. */
export async function orRefused(work: () => Promise<AskOutcome>): Promise<AskOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogError) return refused(error.message);
    throw error;
  }
}

/** What comes of an answer; in a session that is read-only, or whose log cannot be written, nothing. */
export async function orGone<T>(
  readOnly: string | undefined,
  work: () => Promise<T>,
): Promise<T | Gone> {
  if (readOnly !== undefined) return { outcome: "gone", message: readOnly };
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogError) return { outcome: "gone", message: error.message };
    throw error;
  }
}
