import type { z } from "zod";
import type { Prepared } from "../gate/prepared.js";
import type { Permit } from "../workspace/permit.js";
import type { FileChanged, ToolError, ToolResult, Workspace } from "../workspace/types.js";

/** What a turn does for the tools that act on the turn itself. */
export interface TurnPort {
  /** Opens a question and waits for its answer (the user's text). Rejects with the signal's reason. */
  ask(question: string, options: readonly string[] | undefined): Promise<string>;
  /** Runs the Stop hooks; a failing one's output comes back as the result and the turn goes on. */
  finish(result: string): Promise<ToolResult>;
  /** The skill's body and its files, or an error that lists the skills there are. */
  useSkill(name: string): Promise<ToolResult>;
}

/** What a tool is given besides its arguments. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly turn: TurnPort;
  /** A command's output as it comes, decoded, for whoever watches. */
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
}

/**
 * One tool. `prepare` checks and reads what it must and changes nothing; `execute` does exactly
 * what was prepared, with the permit that the gate made for it. Neither ever asks.
 */
export interface Tool<Args = unknown> {
  readonly name: string;
  /** For the model: what it does, its limits, in a few short sentences. */
  readonly description: string;
  readonly schema: z.ZodType<Args>;
  prepare(args: Args, context: ToolContext): Promise<Prepared | ToolError>;
  /** `permit` is undefined for a `free` call alone. */
  execute(
    args: Args,
    prepared: Prepared,
    permit: Permit | undefined,
    context: ToolContext,
  ): Promise<ToolResult | ToolError | FileChanged>;
}
