import * as z from "zod";
import { RUN_TIMEOUT_MAX_S, RUN_TIMEOUT_S } from "../limits.js";
import { runCommand } from "../workspace/command.js";
import { hasLoneSurrogate } from "../workspace/show.js";
import { ToolError } from "../workspace/types.js";
import { defineTool, granted } from "./define.js";

/** Why an argv cannot be started, whatever programs there are. */
function refuseArgv(argv: readonly string[]): ToolError | undefined {
  const [program] = argv;
  if (program === undefined || program.trim() === "") {
    return new ToolError(
      'argv is empty. Give the program and its arguments, such as ["git", "status"].',
    );
  }
  const bad = argv.findIndex((word) => word.includes("\0") || hasLoneSurrogate(word));
  if (bad < 0) return undefined;
  return new ToolError(
    `argv[${bad}] holds a NUL character or half of a surrogate pair, which no argument can.`,
  );
}

export const run = defineTool({
  name: "run",
  description:
    'Runs a program in the workspace, without a shell (for one: ["sh", "-c", "..."]), without input; ended after timeout seconds. Gives exit code and output, 64 KiB of each stream.',
  schema: z.strictObject({
    argv: z.array(z.string()).describe("program and arguments, a word each"),
    timeout: z
      .int()
      .min(1)
      .max(RUN_TIMEOUT_MAX_S)
      .optional()
      .describe(`seconds, default ${RUN_TIMEOUT_S}`),
  }),
  async prepare(args) {
    const refused = refuseArgv(args.argv);
    if (refused !== undefined) return refused;
    return {
      kind: "run",
      tool: "run",
      argv: [...args.argv],
      timeout: args.timeout ?? RUN_TIMEOUT_S,
    };
  },
  execute(_args, prepared, permit, { workspace, signal, onOutput }) {
    const { permit: own } = granted("run", prepared, permit);
    return runCommand(workspace, own, { signal, onOutput });
  },
});
