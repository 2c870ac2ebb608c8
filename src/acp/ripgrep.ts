import { access, constants, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findRipgrep } from "../core/workspace/ripgrep.js";
import type { ToolError } from "../core/workspace/types.js";

/** ripgrep by the setting, beside the agent, or on the `PATH`; else what to do about it. */
export async function ripgrepFor(
  setting: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string | ToolError> {
  const packaged = dirname(fileURLToPath(import.meta.url));
  const found = await findRipgrep({ setting, packaged });
  if (typeof found === "string" || setting !== undefined) return found;
  return (await onPath(process.platform === "win32" ? "rg.exe" : "rg", env)) ?? found;
}

/** A program on the `PATH`, absolute; undefined where there is none. */
export async function onPath(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    // A relative entry would take a program out of whatever folder the agent was started in.
    if (!isAbsolute(directory)) continue;
    const file = join(directory, program);
    try {
      await access(file, constants.X_OK);
      if ((await stat(file)).isFile()) return file;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}
