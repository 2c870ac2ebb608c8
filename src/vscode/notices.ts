import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import { inform } from "./say.js";
import type { Sessions } from "./sessions.js";
import { notifies } from "./settings.js";

/** Tells of a card that waits, only while the window has no focus and the setting says so. */
export function registerNotices(
  sessions: Sessions,
  showCard: (session: string, card: string) => Promise<void>,
): vscode.Disposable {
  return sessions.onEvent(({ opened, event }) => {
    if (event.type !== "card_raised" || vscode.window.state.focused || !notifies()) return;
    const what = visible(event.argv?.join(" ") ?? event.relative ?? event.path ?? "");
    const show = vscode.l10n.t("Show card");
    void inform(
      vscode.l10n.t("Countersign waits for your answer: {0}", what.slice(0, 200)),
      show,
    ).then((picked) => (picked === show ? showCard(opened.live.id, event.card) : undefined));
  });
}
