import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import * as z from "zod";
import { messageOf } from "../core/messageOf.js";
import { type Allow, allowSchema } from "../core/session/events.js";
import { isUnder } from "./workspace.js";

/** A file of allows that is not obeyed; `message` says why, and no session starts. */
class AllowsError extends Error {}

/**
 * The allows that `COUNTERSIGN_ALLOWS` names, for a new session in `root` (real, absolute): a JSON
 * array of `{"write": path}`, `{"read": path}` and `{"run": [argv…]}`. A relative path is under
 * `root`. The file must lie outside the workspace: what the agent can propose to write, or a
 * repository brings along, is no grant of the user's. Throws `AllowsError`.
 */
export function readAllows(file: string, root: string): Allow[] {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new AllowsError(`COUNTERSIGN_ALLOWS: ${messageOf(error)}`);
  }
  if (isUnder(file, root)) {
    throw new AllowsError(
      `COUNTERSIGN_ALLOWS: ${file} is inside the workspace ${root}; keep it outside, where only you write it`,
    );
  }
  const parsed = z.array(allowSchema).safeParse(json);
  if (!parsed.success) {
    throw new AllowsError(`COUNTERSIGN_ALLOWS: ${file}: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data.map((allow) => {
    if ("run" in allow) return allow;
    if ("write" in allow) return { write: exact(allow.write, root) };
    return { read: exact(allow.read, root) };
  });
}

/**
 * The path that a line names. A link is not followed, for who made it: a line that names one outside
 * the workspace would never be used, and is an error that says what to name.
 */
function exact(path: string, root: string): string {
  const named = resolve(root, path);
  const real = realOf(named);
  if (real === named || named.startsWith(root + sep)) return named;
  throw new AllowsError(`COUNTERSIGN_ALLOWS: ${path} leads to ${real}: name that`);
}

/** A path after every link, the parts that do not exist yet included. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
}
