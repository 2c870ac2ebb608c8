import type { VNode } from "preact";
import { clock } from "./format.js";
import { post } from "./host.js";
import { Icon } from "./parts.js";
import { t } from "./texts.js";
import type { Undo, UndoneFile } from "./undos.js";

/** A button that asks the host for an undo, or for a redo of one. */
export function UndoButton(props: {
  session: string;
  kind: "turn" | "undo";
  id: string;
  /** It brings back what an undo took. */
  redo: boolean;
}): VNode {
  const { session, kind, id, redo } = props;
  return (
    <button
      type="button"
      class="link undo"
      onClick={() => post({ type: "undo", session, kind, id })}
    >
      <Icon name={redo ? "redo" : "discard"} />{" "}
      {t(redo ? "redo" : kind === "turn" ? "undoTurn" : "undoAgain")}
    </button>
  );
}

const TITLES = { turn: "undoneTurn", call: "undoneCall", undo: "undoneUndo" } as const;

function outcomeText({ file }: UndoneFile): string {
  if (file === undefined) return t("undoOpen");
  if (file.outcome === "failed") return t("undoFailed", file.message ?? "");
  if (file.outcome === "restored") return t("undoRestored");
  return t(file.trash === true ? "undoTrashed" : "undoRemoved");
}

/** An undo: what it was of, and what became of each file. */
export function UndoRow(props: { undo: Undo; undone: boolean; session: string }): VNode {
  const { undo, undone, session } = props;
  const { started, files, ended } = undo;
  const title = t(TITLES[started.kind]);
  return (
    <section class="end undone" aria-label={title}>
      <span>
        <Icon name={started.kind === "undo" ? "redo" : "discard"} /> {title} · {clock(started.at)}
      </span>
      <ul>
        {[...files.values()].map((one) => (
          <li key={one.name}>
            <bdi class="subject">{one.name}</bdi> <span>{outcomeText(one)}</span>
          </li>
        ))}
      </ul>
      {ended?.reason === "interrupted" && <span class="end-message">{t("undoCut")}</span>}
      {undone && <span>{t("stateUndone")}</span>}
      {ended !== undefined && !undone && (
        <UndoButton
          session={session}
          kind="undo"
          id={started.undo}
          redo={started.kind !== "undo"}
        />
      )}
    </section>
  );
}
