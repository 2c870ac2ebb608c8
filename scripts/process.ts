import { type SpawnOptions, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** A message for whoever runs a script: what is missing and what to do. Printed without a stack. */
export class ScriptError extends Error {}

/** What a program printed, both streams in the order they came, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end. Rejects only where it cannot be started. */
export function run(command: string, args: readonly string[], options: SpawnOptions = {}) {
  return new Promise<Ended>((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    const keep = (chunk: Buffer) => {
      output += chunk.toString("utf8");
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** As `run`, and anything but exit code 0 is a `ScriptError` that says what was tried and ends with its output. */
export async function must(
  what: string,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<string> {
  const failed = (why: string) => new ScriptError(`${what} failed (${command}): ${why}`);
  const { code, output } = await run(command, args, options).catch((error: Error) => {
    throw failed(error.message);
  });
  if (code !== 0) throw failed(`exit code ${code}\n${output.trimEnd().slice(-4000)}`);
  return output;
}

/** Where a program is on PATH, or undefined. */
export function onPath(name: string): string | undefined {
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  return (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find((file) => existsSync(file));
}

/** Runs `main` as a script: a `ScriptError` is printed as it is, anything else with its stack. */
export async function script(main: () => Promise<number | undefined>): Promise<void> {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(error instanceof ScriptError ? error.message : error);
    process.exitCode = 1;
  }
}
