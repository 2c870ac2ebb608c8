import { lstatSync } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isWithin } from "./names.js";
import type { Workspace } from "./types.js";

const { win32 } = path;

/** The variable of this name, which Windows takes in any case. */
function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return Object.entries(env).find(([own]) => own.toUpperCase() === name)?.[1];
}

/**
 * What Windows starts for a program's bare name, by its full path, or undefined where PATH has none.
 * Left to itself it looks into the current folder first, and a workspace that brings a `git.exe`
 * along would have that one run for a card that says "git". Other names come back as they are.
 */
export function windowsProgram(
  program: string,
  env: NodeJS.ProcessEnv,
  isFile: (file: string) => boolean,
): string | undefined {
  if (/[\\/:]/.test(program)) return program;
  const extensions = /\.[^.]+$/.test(program) ? ["", ".com", ".exe"] : [".com", ".exe"];
  for (const entry of (variable(env, "PATH") ?? "").split(";")) {
    const folder = entry.replaceAll('"', "").trim();
    // One that begins with neither a drive nor a server is below the current folder, or on its drive.
    if (!/^(?:[a-z]:[\\/]|\\\\)/i.test(folder)) continue;
    for (const extension of extensions) {
      const file = win32.join(folder, program + extension);
      if (isFile(file)) return file;
    }
  }
  return undefined;
}

/** A program of Windows itself by its full path, which no folder that we run in can stand in for. */
export function systemProgram(name: string, env: NodeJS.ProcessEnv): string {
  return win32.join(variable(env, "SYSTEMROOT") ?? "C:\\Windows", "System32", name);
}

/** Not followed: the stubs of Windows' own store are links that nothing but a start goes through. */
export function isThere(file: string): boolean {
  try {
    return !lstatSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** Whether this is a regular file that may be started by this user. */
export async function runnable(file: string): Promise<boolean> {
  try {
    if (!(await stat(file)).isFile()) return false;
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What a bare name is started as from `cwd`: the first of PATH's folders that has it, as `execvp` looks. */
async function foundInPath(program: string, env: NodeJS.ProcessEnv, cwd: string) {
  // An empty entry is the current folder, which is the workspace.
  for (const entry of (env.PATH ?? "/").split(path.delimiter)) {
    const file = path.resolve(cwd, entry, program);
    if (await runnable(file)) return file;
  }
  return undefined;
}

/**
 * The file of the workspace, absolute, that PATH gives for a program's bare name; undefined where it
 * gives none or one from elsewhere, and for a program that is named by its path. A card for `git`
 * must say so where that is a file that came with the workspace.
 */
export async function ownProgram(
  { realRoot, env }: Pick<Workspace, "realRoot" | "env">,
  program: string,
): Promise<string | undefined> {
  if (/[\\/]/.test(program)) return undefined;
  const file =
    process.platform === "win32"
      ? windowsProgram(program, env, isThere)
      : await foundInPath(program, env, realRoot);
  if (file === undefined) return undefined;
  const real = await realpath(file).catch(() => file);
  const own = [file, real].some((one) => isWithin(realRoot, one, process.platform));
  return own ? file : undefined;
}
