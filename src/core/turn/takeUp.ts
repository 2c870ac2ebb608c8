import type { SessionRecord } from "../session/record.js";
import { sweep } from "./leftovers.js";
import { settle, waitsForSomeone } from "./recover.js";
import type { Turns } from "./turns.js";
import type { UndoDesk } from "./undoDesk.js";

/**
 * Takes up what an earlier host left of a session: what is certain goes into the log, and a card
 * or question that was open is open again when this resolves. `whenUp` hears of the question; a
 * card tells by its event. A log that cannot be written is only reported.
 */
export async function takeUp(
  record: SessionRecord,
  turns: Turns,
  undos: UndoDesk,
  whenUp: (up: () => void) => void,
  report: (message: string) => void,
): Promise<void> {
  const tell = (error: Error): void => report(`session ${record.id}: ${error.message}`);
  // Before the log says that these calls are over: a second kill must not lose track of them.
  await sweep(record).catch(tell);
  try {
    await undos.settle();
    await settle(record);
  } catch (error) {
    tell(error as Error);
    return;
  }
  if (!waitsForSomeone(record)) return;
  let isUp: () => void = () => {};
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  whenUp(isUp);
  const listening = record.onEvent(({ type }) => {
    if (type === "card_raised" || type === "call_ended") isUp();
  });
  await turns.begin({ kind: "resume" });
  await Promise.race([up, turns.over()]);
  listening.dispose();
}
