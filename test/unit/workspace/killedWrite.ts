/** Writes over a file and is killed before the rename. Arguments: workspace, path of a file with `old`. */

import { writeBytes } from "../../../src/core/workspace/write.js";
import { workspaceOn, writePermit } from "./permits.js";

const [root = "", given = ""] = process.argv.slice(2);
const workspace = await workspaceOn(root);
const permit = await writePermit(workspace, given, "old", "new");
await writeBytes(workspace, permit, Buffer.from("new"), {
  beforeRename: () => void process.kill(process.pid, "SIGKILL"),
});
