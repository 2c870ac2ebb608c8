import * as vscode from "vscode";
import type { AskOutcome } from "../core/turn/live.js";
import { folders, pickFolder } from "./folders.js";
import type { Sessions } from "./sessions.js";

/** Sends `text` to a session, to a new one where there is none. A refusal says why. */
export async function ask(
  sessions: Sessions,
  id: string | undefined,
  text: string,
): Promise<AskOutcome> {
  let opened = id === undefined ? undefined : sessions.get(id);
  if (id !== undefined && !opened)
    return { outcome: "refused", message: vscode.l10n.t("This session is not open any more.") };
  if (!opened) {
    const folder = await pickFolder();
    if (!folder)
      return {
        outcome: "refused",
        message:
          folders().length === 0
            ? vscode.l10n.t("Open a folder first: a session works in one.")
            : vscode.l10n.t("No folder was chosen."),
      };
    opened = await sessions.create(folder.uri.fsPath);
  }
  return opened.live.ask(text);
}
