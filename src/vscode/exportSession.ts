import * as vscode from "vscode";
import { folders } from "./folders.js";
import { fileName } from "./logDocuments.js";
import type { Sessions } from "./sessions.js";

type Format = vscode.QuickPickItem & { readonly extension: "md" | "jsonl" };

/**
 * Asks for a form and a place, and writes the session there: as Markdown, or as JSON lines, which
 * are the exact bytes of its log. Rejects with the error of the disk.
 */
export async function exportSession(sessions: Sessions, id: string): Promise<void> {
  const formats: readonly Format[] = [
    {
      label: vscode.l10n.t("Markdown"),
      detail: vscode.l10n.t("To read: each effect with whose answer let it through."),
      extension: "md",
    },
    {
      label: vscode.l10n.t("JSON lines"),
      detail: vscode.l10n.t("The exact bytes of the log, one event a line."),
      extension: "jsonl",
    },
  ];
  const format = await vscode.window.showQuickPick(formats, {
    placeHolder: vscode.l10n.t("Export the session as"),
  });
  if (format === undefined) return;
  const session = await sessions.core.readSession(id);
  const folder = folders()[0]?.uri;
  const name = `${fileName(session.title) || id}.${format.extension}`;
  const target = await vscode.window.showSaveDialog({
    filters: { [format.label]: [format.extension] },
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
  });
  if (target === undefined) return;
  if (format.extension === "md") {
    const { exportMarkdown } = await import("../core/turn/readableLog.js");
    await vscode.workspace.fs.writeFile(target, await exportMarkdown(session));
    await vscode.window.showTextDocument(target);
    return;
  }
  const directory = vscode.Uri.file(await sessions.core.sessionDirectory(id));
  const log = vscode.Uri.joinPath(directory, "log.jsonl");
  await vscode.workspace.fs.copy(log, target, { overwrite: true });
}
