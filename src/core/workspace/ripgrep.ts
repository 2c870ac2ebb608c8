import path from "node:path";
import { runnable } from "./program.js";
import { ToolError } from "./types.js";

export interface RipgrepPlaces {
  /** The user's own setting: taken where it is given, and nothing else is tried. */
  readonly setting?: string | undefined;
  /** VS Code's `env.appRoot`, whose own copy serves. */
  readonly appRoot?: string | undefined;
  /** A directory whose `node_modules` (or its parents') hold the package `@vscode/ripgrep`. */
  readonly packaged?: string | undefined;
  readonly platform?: NodeJS.Platform;
  readonly arch?: string;
}

/** Every directory from `start` up to the root of the disk. */
function upwards(start: string): string[] {
  const found = [path.resolve(start)];
  for (let at = found[0] ?? start; path.dirname(at) !== at; ) {
    at = path.dirname(at);
    found.push(at);
  }
  return found;
}

/** Where ripgrep may be, the best first. A pure function. */
export function ripgrepCandidates(places: RipgrepPlaces): string[] {
  const platform = places.platform ?? process.platform;
  const arch = places.arch ?? process.arch;
  const program = platform === "win32" ? "rg.exe" : "rg";
  const own = places.packaged === undefined ? [] : upwards(places.packaged);
  const modules = ["node_modules", "node_modules.asar.unpacked"];
  const { appRoot } = places;
  return [
    ...own.map((dir) =>
      path.join(dir, "node_modules", "@vscode", `ripgrep-${platform}-${arch}`, "bin", program),
    ),
    ...(appRoot === undefined ? [] : modules).flatMap((folder) => [
      path.join(
        appRoot ?? "",
        folder,
        "@vscode",
        "ripgrep-universal",
        "bin",
        `${platform}-${arch}`,
        program,
      ),
      path.join(appRoot ?? "", folder, "@vscode", "ripgrep", "bin", program),
    ]),
  ];
}

/**
 * ripgrep's absolute path: from the setting, else beside us, else VS Code's own. Where there is
 * none, an error that says what to do.
 */
export async function findRipgrep(places: RipgrepPlaces): Promise<string | ToolError> {
  if (places.setting !== undefined && places.setting !== "") {
    if (await runnable(places.setting)) return path.resolve(places.setting);
    return new ToolError(
      `grep needs ripgrep, and the setting countersign.ripgrep.path names ${places.setting}, which is no program. Ask the user to correct or clear it; until then list_dir and read_file serve.`,
    );
  }
  for (const file of ripgrepCandidates(places)) if (await runnable(file)) return file;
  return new ToolError(
    "grep needs ripgrep, and it was found neither in this package nor in the editor. Ask the user to install ripgrep and to name its path in the setting countersign.ripgrep.path; until then list_dir and read_file serve.",
  );
}
