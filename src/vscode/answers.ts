import * as vscode from "vscode";
import type { Answer, Surface } from "../core/session/events.js";
import type { Edits } from "./edits.js";
import { warn } from "./say.js";
import type { Sessions } from "./sessions.js";

/** A card's answer from an editor counts only when it has been up this long, in milliseconds. */
export const ARM_MS = 400;

export interface AnswerOptions {
  readonly note?: string | undefined;
  /**
   * What the person saw as what would be written: the text with this SHA-256, what the diff editor
   * shows in this moment (`editor`), or the proposal (absent).
   */
  readonly shown?: { readonly digest: string | undefined } | "editor" | undefined;
}

/**
 * The one way from any surface to a card. An answer names its card, and a yes the text it is about;
 * one to a card that is gone, or to a text that is not there any more, changes nothing and says so.
 */
export class Answers {
  constructor(
    private readonly sessions: Sessions,
    private readonly edits: Edits,
  ) {}

  async give(
    card: string,
    answer: Answer,
    surface: Surface,
    { note, shown }: AnswerOptions = {},
  ): Promise<boolean> {
    const found = this.sessions.findCard(card);
    if (!found) {
      this.gone();
      return false;
    }
    let digest = typeof shown === "object" ? shown.digest : undefined;
    if (found.card.event.kind === "write" && answer !== "deny") {
      // What was typed last is in the card before any yes to it.
      const now = await this.edits.push(card);
      if ("fault" in now) {
        void warn(now.fault);
        return false;
      }
      if (shown === "editor") digest = now.digest;
    }
    const outcome = await found.opened.live.answerCard(card, answer, {
      surface,
      ...(note === undefined ? {} : { note }),
      ...(digest === undefined ? {} : { shown: digest }),
    });
    if (outcome.outcome === "stale") void warn(outcome.message);
    if (outcome.outcome === "gone") this.gone(outcome.message);
    return outcome.outcome === "taken";
  }

  /** The second click of a double click must not answer a card that has just come up under it. */
  isArmed(card: string): boolean {
    const found = this.sessions.findCard(card);
    return found !== undefined && Date.now() - Date.parse(found.card.event.at) >= ARM_MS;
  }

  /** Says of a click that came too late that it changed nothing. */
  gone(message?: string): void {
    vscode.window.setStatusBarMessage(
      message ?? vscode.l10n.t("This card is not open any more; nothing was changed."),
      5_000,
    );
  }
}
