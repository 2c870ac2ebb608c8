import * as path from "node:path";
import type { Sessions } from "./sessions.js";

/*
 * What a page may mean by what it says. It shows the words of a model, so what it names is held
 * against what the host knows.
 */

/** Whether the card is open in another session than the page says that it is of. */
export function isElsewhere(
  sessions: Pick<Sessions, "findCard">,
  { session, card }: { readonly session: string; readonly card: string },
): boolean {
  const found = sessions.findCard(card);
  return found !== undefined && found.opened.live.id !== session;
}

/**
 * The file that a page may have opened: of the session's own folder, or one that a card of the
 * session named (`named`, absolute); undefined for any other. Nothing is looked up on the disk.
 */
export function fileToOpen(
  workspace: string,
  given: string,
  named: (file: string) => boolean,
): string | undefined {
  // A UNC path would send the user's credentials to whoever the model named.
  if (/^[\\/]{2}/.test(given)) return undefined;
  const file = path.resolve(workspace, given);
  const way = path.relative(workspace, file);
  const inside = way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
  return inside || named(file) ? file : undefined;
}
