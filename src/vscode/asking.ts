import * as vscode from "vscode";
import type { AskOutcome } from "../core/turn/live.js";
import type { Sessions } from "./sessions.js";

/** Folders of this window that an agent can work in: those on a disk this host can reach. */
export function folders(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
}

/** The folder for a new session: the only one, or the one the user picks. */
export async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const all = folders();
  if (all.length <= 1) return all[0];
  const picked = await vscode.window.showQuickPick(
    all.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    { placeHolder: vscode.l10n.t("Which folder shall the session work in?") },
  );
  return picked?.folder;
}

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
