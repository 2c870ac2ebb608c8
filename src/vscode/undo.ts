import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import type { Surface } from "../core/session/events.js";
import type {
  Undoable,
  UndoChoice,
  UndoFile,
  UndoItem,
  UndoPlan,
  UndoTarget,
} from "../core/turn/live.js";
import { label } from "./plain.js";
import { commandLine } from "./quote.js";
import { warn } from "./say.js";
import type { Opened, Sessions } from "./sessions.js";
import type { UndoDocuments, UndoSide } from "./undoDocuments.js";

type TurnRow = vscode.QuickPickItem & { readonly target?: UndoTarget };
type FileRow = vscode.QuickPickItem & { readonly item?: UndoItem };

/** Taking back what a turn, a write or an undo changed: a list to confirm, then the doing. */
export class Undos {
  constructor(
    private readonly sessions: Sessions,
    private readonly documents: UndoDocuments,
    /** Says a line in the chat's status region. */
    private readonly say: (text: string) => void,
  ) {}

  /** The turns of the session shown; one that is undone can be brought back. */
  async pick(): Promise<void> {
    const opened = this.sessions.shown;
    if (!opened) return;
    const rows = opened.live.undoable.map((turn) => turnRow(turn));
    const row = await vscode.window.showQuickPick(rows, {
      title: vscode.l10n.t("Countersign: Undo Turn"),
      placeHolder: vscode.l10n.t("Which turn? The files are listed before anything is done."),
      matchOnDetail: true,
    });
    if (row?.target) await this.start(opened, row.target, "command");
  }

  /** Shows what would be done, asks about each file that was changed since, and does it. */
  async start(opened: Opened, target: UndoTarget, surface: Surface): Promise<void> {
    try {
      for (;;) {
        const plan = await opened.live.planUndo(target);
        if (typeof plan === "string") {
          void warn(plan);
          return;
        }
        const choices = await this.#confirm(plan);
        if (choices === undefined) return;
        const outcome = await opened.live.undo(plan, choices, surface);
        if (outcome.outcome === "refused") {
          void warn(outcome.message);
          return;
        }
        if (outcome.outcome === "done") {
          this.#tell(plan, outcome.files);
          return;
        }
        void warn(
          vscode.l10n.t("A file changed while you looked. Nothing was done; here is the new list."),
        );
      }
    } finally {
      await this.documents.close();
    }
  }

  /** What the user wants for each file, or undefined where they want nothing done. */
  async #confirm(plan: UndoPlan): Promise<ReadonlyMap<string, UndoChoice> | undefined> {
    const picked = await this.#list(plan);
    if (picked === undefined) return undefined;
    const choices = new Map<string, UndoChoice>();
    for (const item of plan.items) {
      if (!picked.has(item)) choices.set(item.path, "keep");
      else if (item.state === "conflict") {
        const choice = await this.#ask(item);
        if (choice === undefined) return undefined;
        choices.set(item.path, choice);
      }
    }
    return choices;
  }

  #list(plan: UndoPlan): Promise<ReadonlySet<UndoItem> | undefined> {
    const look = {
      iconPath: new vscode.ThemeIcon("diff"),
      tooltip: vscode.l10n.t("Show what would change"),
    };
    const picker = vscode.window.createQuickPick<FileRow>();
    const redo = plan.target.kind === "undo";
    picker.title = redo
      ? vscode.l10n.t("Redo: {0}", visible(plan.text))
      : vscode.l10n.t("Undo: {0}", visible(plan.text));
    picker.placeholder = vscode.l10n.t(
      "Files that are ticked go back. OK does it, Escape does nothing.",
    );
    picker.canSelectMany = true;
    picker.ignoreFocusOut = true;
    picker.matchOnDescription = true;
    const rows = [
      ...plan.items.map((item) => fileRow(item, look)),
      ...(plan.commands.length > 0
        ? [
            {
              label: vscode.l10n.t("Ran in this turn; what commands did stays done"),
              kind: vscode.QuickPickItemKind.Separator,
            },
          ]
        : []),
      ...plan.commands.map((argv) => ({
        label: `$(terminal) ${label(commandLine(argv))}`,
        description: vscode.l10n.t("cannot be undone"),
      })),
    ];
    picker.items = rows;
    picker.selectedItems = rows.filter((row) => ticked(row));
    return new Promise((resolve) => {
      let done: ReadonlySet<UndoItem> | undefined;
      picker.onDidChangeSelection((selected) => {
        // What cannot be undone cannot be ticked.
        const able = selected.filter((row) => canTick(row));
        if (able.length < selected.length) picker.selectedItems = able;
      });
      picker.onDidTriggerItemButton(({ item: { item } }) => {
        if (item) void this.documents.show(visible(item.name), [[item, "", "now", "before"]]);
      });
      picker.onDidAccept(() => {
        done = new Set(picker.selectedItems.flatMap(({ item }) => item ?? []));
        picker.hide();
      });
      picker.onDidHide(() => {
        picker.dispose();
        resolve(done);
      });
      picker.show();
    });
  }

  /** The three states of a file that is not what was left of it, and what is to become of it. */
  async #ask(item: UndoItem): Promise<UndoChoice | undefined> {
    const name = visible(item.name);
    const text = labels();
    const all: readonly (readonly [UndoItem, string, UndoSide, UndoSide])[] = [
      [item, text.turn, "before", "left"],
      [item, text.since, "left", "now"],
      [item, text.restore, "now", "before"],
      [item, text.merge, "now", "merged"],
    ];
    const known = all.filter(
      ([, , from, to]) => item[from] !== undefined && item[to] !== undefined,
    );
    await this.documents.show(vscode.l10n.t("{0}: before, as it was left, and now", name), known);
    type Row = vscode.QuickPickItem & { readonly choice: UndoChoice };
    const rows: Row[] = [
      {
        label: vscode.l10n.t("$(circle-slash) Keep what is there now"),
        choice: "keep",
      },
      {
        label:
          item.before === null
            ? vscode.l10n.t("$(trash) Remove the file")
            : vscode.l10n.t("$(discard) Restore the old text"),
        detail: vscode.l10n.t("What was changed since goes away; a redo brings it back."),
        choice: "restore",
      },
    ];
    if (item.merged !== undefined) {
      rows.push({
        label: vscode.l10n.t("$(git-merge) Undo, and keep what was changed since"),
        detail: vscode.l10n.t(
          "The changes stand apart; the last change shown is exactly what is done.",
        ),
        choice: "merge",
      });
    }
    const row = await vscode.window.showQuickPick(rows, {
      title: vscode.l10n.t("{0} is not what was left of it", name),
      placeHolder:
        item.why === "between"
          ? vscode.l10n.t(
              "Someone else changed it in the middle of the turn. Escape does nothing at all.",
            )
          : vscode.l10n.t("It was changed since. Escape does nothing at all."),
      ignoreFocusOut: true,
    });
    return row?.choice;
  }

  #tell(plan: UndoPlan, files: readonly UndoFile[]): void {
    const failed = files.filter(({ outcome }) => outcome === "failed");
    const name = (file: UndoFile) =>
      visible(plan.items.find(({ path }) => path === file.path)?.name ?? file.path);
    for (const file of failed) {
      void warn(vscode.l10n.t("{0} was not undone: {1}", name(file), file.message ?? ""));
    }
    const done = files.length - failed.length;
    this.say(
      plan.target.kind === "undo"
        ? vscode.l10n.t("Redone: {0} files", done)
        : vscode.l10n.t("Undone: {0} files", done),
    );
  }
}

function labels() {
  return {
    turn: vscode.l10n.t("1 What was done"),
    since: vscode.l10n.t("2 What was changed since"),
    restore: vscode.l10n.t("3 What Restore would do"),
    merge: vscode.l10n.t("4 What Undo and keep would do"),
  };
}

function turnRow(turn: Undoable): TurnRow {
  const { target, text, at, files, commands, undone } = turn;
  const ran = commands.map((argv) => `$(terminal) ${label(commandLine(argv))}`);
  const detail = [...files.map((file) => label(visible(file))), ...ran].join(" · ").slice(0, 500);
  const when = new Date(at).toLocaleString();
  if (undone === undefined)
    return { label: label(visible(text)), description: when, detail, target };
  return {
    label: vscode.l10n.t("$(redo) Redo: {0}", label(visible(text))),
    description: vscode.l10n.t("{0} · undone", when),
    detail,
    target: { kind: "undo", id: undone },
  };
}

function canTick({ item }: FileRow): boolean {
  return item !== undefined && item.state !== "same" && item.state !== "impossible";
}

/** A conflict is only ticked by the user. */
function ticked(row: FileRow): boolean {
  return canTick(row) && row.item?.state !== "conflict";
}

function fileRow(item: UndoItem, look: vscode.QuickInputButton): FileRow {
  const icon = { restore: "discard", create: "new-file", remove: "trash" } as const;
  const known = item.state === "conflict" ? "warning" : "circle-slash";
  const name = item.state in icon ? icon[item.state as keyof typeof icon] : known;
  const unsaved = item.unsaved
    ? {
        detail: vscode.l10n.t("The editor holds it with unsaved changes; they stay in the editor."),
      }
    : {};
  return {
    label: `$(${name}) ${label(visible(item.name))}`,
    description: stateText(item),
    ...unsaved,
    ...(canTick({ label: "", item }) ? { buttons: [look] } : {}),
    item,
  };
}

function stateText({ state, why }: UndoItem): string {
  switch (state) {
    case "restore":
      return vscode.l10n.t("restored");
    case "create":
      return vscode.l10n.t("brought back");
    case "remove":
      return vscode.l10n.t("removed, to the trash where there is one");
    case "same":
      return vscode.l10n.t("is as it was before already");
    case "conflict":
      return why === "between"
        ? vscode.l10n.t("changed by someone else in the turn: tick it to be asked")
        : vscode.l10n.t("changed since: tick it to be asked");
    case "impossible":
      switch (why) {
        case "elsewhere":
          return vscode.l10n.t("not possible: its path leads elsewhere now");
        case "readOnly":
          return vscode.l10n.t("not possible: it is read-only");
        case "lost":
          return vscode.l10n.t("not possible: the bytes of before are not kept any more");
        default:
          return vscode.l10n.t("not possible: it cannot be read");
      }
  }
  return state satisfies never;
}
