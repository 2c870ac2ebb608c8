import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
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
    if ("write" in allow) return { write: absolute(allow.write, root) };
    return { read: absolute(allow.read, root) };
  });
}

function absolute(path: string, root: string): string {
  return isAbsolute(path) ? path : resolve(root, path);
}
