import path from "node:path";

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
