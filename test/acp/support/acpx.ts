import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** acpx wants Node 22.13; the workbench suites bring a Node 24, which serves where this one is older. */
const NEWER = join(root, ".vscode-test/web/node_modules/node/bin/node");

/** The Node that acpx runs on. */
export function nodeForAcpx(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath;
  assert.ok(
    existsSync(NEWER),
    `acpx needs Node 22.13 or newer: this is ${process.versions.node}, and ${NEWER} is not there. Run "npm test -- ui" once, which brings it, or use a newer Node`,
  );
  return NEWER;
}
