import type { Trash } from "../workspace/remove.js";
import type { Sharing } from "./sharing.js";
import type { WorkParts } from "./work.js";

/** What an open session is made of. */
export interface RunnerParts extends Omit<WorkParts, "gate" | "questions" | "emit"> {
  readonly readOnly: string | undefined;
  readonly report: (message: string) => void;
  readonly trash: Trash | undefined;
  /** Hears of files that an undo changed. */
  readonly changed: (paths: readonly string[]) => void;
  readonly sharing: Sharing;
  /** Called once, when the session is closed. */
  readonly closed: () => void;
}
