import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "./faults.js";
import type { Workspace } from "./types.js";

export interface WorkspaceOptions {
  /** The folder as the user sees it, absolute; may be a symlink. */
  readonly root: string;
  readonly ripgrep: Workspace["ripgrep"];
  /** Already cleaned by `cleanEnvironment`. */
  readonly env: NodeJS.ProcessEnv;
  readonly unsaved: Workspace["unsaved"];
}

/**
 * One workspace for one session. Rejects with a sentence for the user where the folder is not
 * there, is no directory, or has a name that is no UTF-8.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const root = path.resolve(options.root);
  let realRoot: string;
  try {
    realRoot = await realpath(root);
    if (!(await stat(realRoot)).isDirectory()) {
      throw new Error(`${root} is not a folder. Open a folder and start the session again.`);
    }
  } catch (error) {
    if (codeOf(error) === "") throw error;
    throw new Error(
      `The workspace folder ${root} cannot be opened (${codeOf(error)}). Open a folder that is there.`,
      { cause: error },
    );
  }
  const { ripgrep, env, unsaved } = options;
  return { root, realRoot, ripgrep, env, unsaved };
}
