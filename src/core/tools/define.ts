import type { z } from "zod";
import type { Prepared } from "../gate/prepared.js";
import type { Permit } from "../workspace/permit.js";
import type { Tool } from "./tool.js";

/**
 * A tool with its own type of arguments, as one of the list: `parseArgs` has checked them against
 * the tool's schema before `prepare` and `execute` see them.
 */
export function defineTool<S extends z.ZodType>(
  tool: { readonly schema: S } & Omit<Tool<z.infer<S>>, "schema">,
): Tool {
  return tool as unknown as Tool;
}

/** What was prepared as `kind`, with the permit made for it; anything else is a bug of the caller. */
export function granted<K extends "read" | "write" | "run">(
  kind: K,
  prepared: Prepared,
  permit: Permit | undefined,
): { prepared: Extract<Prepared, { kind: K }>; permit: Permit<K> } {
  if (prepared.kind !== kind || permit === undefined || permit.allows.kind !== kind) {
    throw new Error(`a ${kind} was executed without its permit`);
  }
  return {
    prepared: prepared as Extract<Prepared, { kind: K }>,
    permit: permit as unknown as Permit<K>,
  };
}
