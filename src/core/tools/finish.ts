import * as z from "zod";
import { defineTool } from "./define.js";

export const finish = defineTool({
  name: "finish",
  description: "Ends the turn with its result for the user, once the work is done or cannot be.",
  schema: z.strictObject({ result: z.string().describe("what was done, in Markdown") }),
  prepare: async () => ({ kind: "free", tool: "finish" }),
  execute: (args, _prepared, _permit, { turn }) => turn.finish(args.result),
});
