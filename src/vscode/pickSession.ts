import * as vscode from "vscode";
import { folders, sessionsHere } from "./folders.js";
import { label } from "./plain.js";
import { inform } from "./say.js";
import type { Sessions } from "./sessions.js";

/** The session shown, else one that the user picks of those of this window's folders. */
export async function shownOrPicked(sessions: Sessions): Promise<string | undefined> {
  if (sessions.shown !== undefined) return sessions.shown.live.id;
  const all = folders().length === 0 ? [] : await sessionsHere(sessions.core);
  if (all.length === 0) {
    void inform(vscode.l10n.t("There is no session in this folder yet"));
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    all.map(({ id, title, updated }) => ({
      label: label(title) || vscode.l10n.t("Untitled session"),
      description: new Date(updated).toLocaleString(),
      id,
    })),
    { placeHolder: vscode.l10n.t("Which session?") },
  );
  return picked?.id;
}
