import { realpathSync } from "node:fs";
import * as vscode from "vscode";
import type { Core, SessionSummary } from "../core/turn/live.js";
import { label } from "./plain.js";

/** Folders of this window that an agent can work in: those on a disk this host can reach. */
export function folders(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
}

/** The folder for a new session: the only one, or the one the user picks. */
export async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const all = folders();
  if (all.length <= 1) return all[0];
  const picked = await vscode.window.showQuickPick(
    all.map((folder) => ({
      label: label(folder.name),
      description: label(folder.uri.fsPath),
      folder,
    })),
    { placeHolder: vscode.l10n.t("Which folder shall the session work in?") },
  );
  return picked?.folder;
}

/** The sessions of this window's folders, newest first. */
export async function sessionsHere(core: Core): Promise<SessionSummary[]> {
  const here = new Set(
    folders().flatMap(({ uri }) => {
      try {
        return [uri.fsPath, realpathSync(uri.fsPath)];
      } catch {
        return [uri.fsPath];
      }
    }),
  );
  return (await core.listSessions()).filter(({ workspace }) => here.has(workspace));
}
