import * as vscode from "vscode";
import type { Answer, Surface } from "../core/session/events.js";
import type { Sessions } from "./sessions.js";

/** A card's answer from an editor counts only when it has been up this long, in milliseconds. */
export const ARM_MS = 400;

/**
 * The one way from any surface to a card. An answer names its card; one to a card that is gone
 * changes nothing and says so.
 */
export class Answers {
  constructor(private readonly sessions: Sessions) {}

  async give(card: string, answer: Answer, surface: Surface, note?: string): Promise<boolean> {
    const found = this.sessions.findCard(card);
    if (!found) {
      this.#gone();
      return false;
    }
    const outcome = await found.opened.live.answerCard(card, answer, {
      surface,
      ...(note === undefined ? {} : { note }),
    });
    if (outcome.outcome === "gone") this.#gone(outcome.message);
    return outcome.outcome === "taken";
  }

  /** The second click of a double click must not answer a card that has just come up under it. */
  isArmed(card: string): boolean {
    const found = this.sessions.findCard(card);
    return found !== undefined && Date.now() - Date.parse(found.card.event.at) >= ARM_MS;
  }

  #gone(message?: string): void {
    vscode.window.setStatusBarMessage(
      message ?? vscode.l10n.t("This card is not open any more; nothing was changed."),
      5_000,
    );
  }
}
