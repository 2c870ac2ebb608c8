import * as z from "zod";
import { defineTool } from "./define.js";

export const useSkill = defineTool({
  name: "use_skill",
  description: "Gives the instructions of a skill from the list of skills, and its files.",
  schema: z.strictObject({ name: z.string() }),
  prepare: async () => ({ kind: "free", tool: "use_skill" }),
  execute: (args, _prepared, _permit, { turn }) => turn.useSkill(args.name),
});
