import * as vscode from "vscode";
import { warnModal } from "../say.js";

/** Says that a key cannot be stored, and asks whether to use it until the window closes. */
export async function offerUntilClosed(): Promise<boolean> {
  const keep = vscode.l10n.t("Use It Until the Window Closes");
  const chosen = await warnModal(
    vscode.l10n.t("The key cannot be stored: this machine has no working keyring."),
    vscode.l10n.t(
      "Install and unlock one (GNOME Keyring or KWallet) to keep keys. Countersign does not write keys anywhere else.",
    ),
    keep,
  );
  return chosen === keep;
}
