import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import type { AllowUse } from "../core/turn/live.js";
import { label } from "./plain.js";
import { commandLine } from "./quote.js";
import type { Sessions } from "./sessions.js";

type Row = vscode.QuickPickItem & { readonly use?: AllowUse };

/** The allows of the session shown, each with a button that takes it back. */
export async function showAllows(sessions: Sessions): Promise<void> {
  const opened = sessions.shown;
  if (!opened) return;
  const takeBack = {
    iconPath: new vscode.ThemeIcon("discard"),
    tooltip: vscode.l10n.t("Take back"),
  };
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = vscode.l10n.t("Countersign: Allows of this session");
  picker.placeholder = vscode.l10n.t(
    "Each lets exactly one thing through. Pick one to take it back.",
  );
  const fill = () => {
    picker.items = opened.live.allows.map((use) => ({
      label: describe(use),
      description:
        use.used === 1 ? vscode.l10n.t("used once") : vscode.l10n.t("used {0} times", use.used),
      buttons: [takeBack],
      use,
    }));
    if (picker.items.length === 0)
      picker.items = [{ label: vscode.l10n.t("There are no allows.") }];
  };
  const revoke = async (row: Row | undefined) => {
    if (row?.use) await opened.live.revoke(row.use.allow);
    fill();
  };
  picker.onDidTriggerItemButton(({ item }) => void revoke(item));
  picker.onDidAccept(() => void revoke(picker.selectedItems[0]));
  picker.onDidHide(() => picker.dispose());
  fill();
  picker.show();
}

function describe({ allow }: AllowUse): string {
  if ("run" in allow) return `$(terminal) ${label(commandLine(allow.run))}`;
  return "write" in allow
    ? `$(edit) ${label(visible(allow.write))}`
    : `$(eye) ${label(visible(allow.read))}`;
}
