import * as vscode from "vscode";
import { messageOf } from "../core/messageOf.js";
import type { SessionSummary } from "../core/turn/live.js";
import { exportSession } from "./exportSession.js";
import { sessionsHere } from "./folders.js";
import { label } from "./plain.js";
import { fail, warnModal } from "./say.js";
import type { Sessions } from "./sessions.js";

type Row = vscode.QuickPickItem & { readonly summary: SessionSummary };

/** A picker with title, state, time and search; its buttons rename, export and delete. */
export class SessionPicker {
  readonly #rename = { iconPath: new vscode.ThemeIcon("edit"), tooltip: vscode.l10n.t("Rename") };
  readonly #export = {
    iconPath: new vscode.ThemeIcon("export"),
    tooltip: vscode.l10n.t("Export…"),
  };
  readonly #delete = { iconPath: new vscode.ThemeIcon("trash"), tooltip: vscode.l10n.t("Delete") };

  constructor(private readonly sessions: Sessions) {}

  async open(): Promise<void> {
    const picker = vscode.window.createQuickPick<Row>();
    picker.title = vscode.l10n.t("Countersign: Sessions");
    picker.placeholder = vscode.l10n.t("Search by title");
    picker.matchOnDescription = true;
    picker.matchOnDetail = true;
    picker.busy = true;
    picker.show();
    const fill = async () => {
      picker.items = (await sessionsHere(this.sessions.core)).map((summary) => this.#row(summary));
      picker.busy = false;
      if (picker.items.length === 0)
        picker.placeholder = vscode.l10n.t("There is no session in this folder yet");
    };
    picker.onDidAccept(() => {
      const row = picker.selectedItems[0];
      picker.hide();
      if (row) void this.#show(row.summary.id);
    });
    picker.onDidTriggerItemButton(({ button, item }) => {
      picker.ignoreFocusOut = true;
      const done =
        button === this.#rename
          ? this.rename(item.summary)
          : button === this.#export
            ? exportSession(this.sessions, item.summary.id)
            : this.delete(item.summary);
      void done.then(fill, (error: unknown) => report(error)).then(() => picker.show());
    });
    picker.onDidHide(() => {
      if (!picker.ignoreFocusOut) picker.dispose();
      picker.ignoreFocusOut = false;
    });
    await fill();
  }

  async rename(summary: SessionSummary): Promise<void> {
    const title = await vscode.window.showInputBox({
      prompt: vscode.l10n.t("Title of the session"),
      value: summary.title,
      validateInput: (text) => (text.trim() === "" ? vscode.l10n.t("Type a title") : undefined),
    });
    if (title !== undefined) await this.sessions.rename(summary.id, title.trim());
  }

  async delete(summary: SessionSummary): Promise<void> {
    const yes = vscode.l10n.t("Move to Trash");
    const picked = await warnModal(
      vscode.l10n.t('Delete the session "{0}"?', summary.title),
      vscode.l10n.t("A turn that is running is ended."),
      yes,
    );
    if (picked !== yes) return;
    const directory = vscode.Uri.file(await this.sessions.release(summary.id));
    try {
      await vscode.workspace.fs.delete(directory, { recursive: true, useTrash: true });
    } catch {
      const forever = vscode.l10n.t("Delete for Ever");
      const again = await warnModal(
        vscode.l10n.t("The trash cannot be used here. Delete the session for ever?"),
        "",
        forever,
      );
      if (again === forever)
        await vscode.workspace.fs.delete(directory, { recursive: true, useTrash: false });
    }
  }

  async #show(id: string): Promise<void> {
    try {
      await this.sessions.show(id);
    } catch (error) {
      report(error);
    }
  }

  #row(summary: SessionSummary): Row {
    const state = this.sessions.get(summary.id)?.live.state;
    const when = new Date(summary.updated).toLocaleString();
    return {
      label: label(summary.title) || vscode.l10n.t("Untitled session"),
      description: state === undefined ? when : `${when} · ${stateText(state)}`,
      ...(summary.model === undefined ? {} : { detail: label(summary.model) }),
      buttons: [this.#rename, this.#export, this.#delete],
      summary,
    };
  }
}

function stateText(state: "idle" | "running" | "waiting" | "interrupted"): string {
  const texts = {
    idle: vscode.l10n.t("idle"),
    running: vscode.l10n.t("running"),
    waiting: vscode.l10n.t("waiting"),
    interrupted: vscode.l10n.t("interrupted"),
  };
  return texts[state];
}

function report(error: unknown): void {
  void fail(messageOf(error));
}
