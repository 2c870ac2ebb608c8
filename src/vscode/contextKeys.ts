import * as vscode from "vscode";
import { contexts } from "./ids.js";
import type { Sessions } from "./sessions.js";

/** Keeps the context keys of the `when`s in step with the sessions. */
export function registerContextKeys(sessions: Sessions): vscode.Disposable {
  const sent = new Map<string, boolean>();
  const set = (key: string, value: boolean) => {
    if (sent.get(key) === value) return;
    sent.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  };
  const update = () => {
    const cards = sessions.openCards();
    const live = sessions.shown?.live;
    set(contexts.cards, cards.length > 0);
    set(
      contexts.writes,
      cards.some(({ card }) => card.event.kind === "write"),
    );
    // A session that another window has is cancelled there.
    const mine = live?.readOnly === undefined ? live : undefined;
    set(contexts.live, mine?.state === "running" || mine?.state === "waiting");
    set(contexts.session, live !== undefined);
    set(contexts.undo, (mine?.undoable.length ?? 0) > 0);
    set(contexts.allows, (live?.allows.length ?? 0) > 0);
  };
  update();
  return sessions.onDidChange(update);
}
