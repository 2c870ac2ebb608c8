import * as z from "zod";
import { RUN_TIMEOUT_MAX_S, RUN_TIMEOUT_S } from "../limits.js";
import { runCommand } from "../workspace/command.js";
import { ownProgram } from "../workspace/program.js";
import { hasLoneSurrogate } from "../workspace/show.js";
import { FileChanged, ToolError } from "../workspace/types.js";
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
  async prepare(args, { workspace }) {
    const refused = refuseArgv(args.argv);
    if (refused !== undefined) return refused;
    const program = await ownProgram(workspace, args.argv[0] ?? "");
    return {
      kind: "run",
      tool: "run",
      argv: [...args.argv],
      timeout: args.timeout ?? RUN_TIMEOUT_S,
      ...(program === undefined ? {} : { program }),
    };
  },
  async execute(_args, prepared, permit, { workspace, signal, onOutput }) {
    const { permit: own, prepared: shown } = granted("run", prepared, permit);
    const [name = ""] = shown.argv;
    const now = await ownProgram(workspace, name);
    // A file that came to be before the one that was meant is for a new card to name.
    if (now !== shown.program) return new FileChanged(now ?? name);
    return runCommand(workspace, own, { signal, onOutput });
  },
});
