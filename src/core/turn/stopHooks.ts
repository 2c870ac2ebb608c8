import type { SessionRecord } from "../session/record.js";
import type { Workspace } from "../workspace/types.js";
import { runHook } from "./hooks.js";
import type { StopHook } from "./live.js";
import { hookVerdict } from "./transcript.js";

/** The end of a turn that the Stop hooks are to let through. */
export interface StopRun {
  readonly record: SessionRecord;
  readonly workspace: Workspace;
  readonly turn: string;
  /** What the turn is to end with. */
  readonly result: string;
  readonly signal: AbortSignal;
}

/**
 * Runs the Stop hooks in order until one blocks, each with its event in the log. Undefined where
 * all pass, else what the model is to hear. Rejects with the signal's reason, or `LogError`.
 */
export async function runStopHooks(
  hooks: readonly StopHook[],
  run: StopRun,
): Promise<string | undefined> {
  const { record, workspace, turn, result, signal } = run;
  for (const hook of hooks) {
    const { facts } = record;
    const end = await runHook(hook, {
      cwd: workspace.realRoot,
      env: workspace.env,
      input: {
        session: record.id,
        turn,
        workspace: workspace.realRoot,
        result,
        changed: [...(facts.turn?.changed ?? [])],
        blocked: (facts.turn?.blocks ?? 0) > 0,
      },
      signal,
    });
    signal.throwIfAborted();
    await record.append({ type: "hook_ended", turn, ...end });
    if (end.exit !== 0) return hookVerdict(end);
  }
  return undefined;
}
