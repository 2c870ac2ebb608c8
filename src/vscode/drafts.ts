import type { Memento } from "vscode";

const KEY = "drafts";
/** Sessions whose draft is kept; over it, the one that was left alone longest is forgotten. */
const MOST_DRAFTS = 50;

/**
 * What was typed and not sent, by session id ("" is the session that is not there yet). A page's
 * own state is saved only when the window closes in order; this also outlives a window that does not.
 */
export class Drafts {
  constructor(private readonly memento: Memento) {}

  get all(): Readonly<Record<string, string>> {
    return this.memento.get<Record<string, string>>(KEY, {});
  }

  /** Keeps a draft; an empty one is forgotten. */
  set(session: string, text: string): Thenable<void> {
    const others = Object.entries(this.all).filter(([id]) => id !== session);
    const kept = text === "" ? others : [...others, [session, text] as const];
    return this.memento.update(KEY, Object.fromEntries(kept.slice(-MOST_DRAFTS)));
  }
}
