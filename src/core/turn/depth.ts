import { ARGS_DEPTH } from "../limits.js";
import type { ModelCall } from "../model/chatClient.js";

/** Whether `value` is nested more than `levels` deep. Goes no deeper than that itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/** A call as it can be written to a log: arguments that are nested too deeply are none. */
export function flatEnough(call: ModelCall): ModelCall {
  if (!isDeeper(call.args, ARGS_DEPTH)) return call;
  const invalid = `[arguments nested more than ${ARGS_DEPTH} levels deep are not kept]`;
  return { ...call, args: null, invalid };
}
