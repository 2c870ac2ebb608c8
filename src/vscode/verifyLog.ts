import * as vscode from "vscode";
import { informModal, warnModal } from "./say.js";
import type { Sessions } from "./sessions.js";

/** Compares the log of the session shown with its own hashes, and says in plain words what came out. */
export async function verifyLog(sessions: Sessions): Promise<void> {
  const live = sessions.shown?.live;
  if (live === undefined) return;
  const verdict = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t("Reading the log…") },
    () => sessions.core.verifyLog(live.id),
  );
  const { tellVerdict } = await import("../core/session/tellVerdict.js");
  const detail = tellVerdict(verdict);
  const copy = vscode.l10n.t("Copy");
  const sound = verdict.faults.length === 0;
  const picked = sound
    ? await informModal(vscode.l10n.t("The log is as it was written."), detail, copy)
    : await warnModal(vscode.l10n.t("The log is not as it was written."), detail, copy);
  if (picked === copy) await vscode.env.clipboard.writeText(detail);
}
