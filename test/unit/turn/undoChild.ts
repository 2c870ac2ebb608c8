/** A host that undoes the last turn of a session again and again, to be killed. Arguments: home, session. */

import { createCore } from "../../../src/core/core.js";
import { ToolError } from "../../../src/core/workspace/types.js";

const [home = "", id = ""] = process.argv.slice(2);

const core = createCore({
  home,
  userHome: home,
  version: "0.0.0-test",
  host: "child",
  ripgrep: async () => new ToolError("none"),
  env: process.env,
  settings: () => ({ stopHooks: [], trusted: true }),
  client: async () => {
    throw new Error("there is no model");
  },
  unsaved: () => new Set(),
  report: (message) => console.error(message),
});
const session = await core.openSession(id);
if (session.readOnly !== undefined) throw new Error(session.readOnly);
const [turn] = session.undoable;
if (turn === undefined) throw new Error("nothing to undo");
console.log("open");
for (;;) {
  const undo = session.undoneBy(turn.target);
  const target = undo === undefined ? turn.target : ({ kind: "undo", id: undo } as const);
  const plan = await session.planUndo(target);
  if (typeof plan === "string") throw new Error(plan);
  const outcome = await session.undo(plan, new Map(), "test");
  if (outcome.outcome !== "done") {
    // Cut short, it may be half done: then the rest of the other way is what there is to do.
    const rest = await session.planUndo(turn.target);
    if (typeof rest === "string") throw new Error(rest);
    await session.undo(rest, new Map(), "test");
  }
}
