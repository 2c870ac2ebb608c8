import * as z from "zod";
import { ASK_OPTION_CHARS, ASK_OPTIONS } from "../limits.js";
import { defineTool } from "./define.js";

export const ask = defineTool({
  name: "ask",
  description:
    "Asks the user one question and waits for the answer. Only for what the files cannot tell.",
  schema: z.strictObject({
    question: z.string().min(1),
    options: z
      .array(z.string().min(1).max(ASK_OPTION_CHARS))
      .max(ASK_OPTIONS)
      .optional()
      .describe("answers to choose from"),
  }),
  prepare: async () => ({ kind: "free", tool: "ask" }),
  async execute(args, _prepared, _permit, { turn }) {
    return { ok: true, text: await turn.ask(args.question, args.options) };
  },
});
