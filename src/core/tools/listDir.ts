import * as z from "zod";
import { listDirectory } from "../workspace/list.js";
import { defineTool, granted } from "./define.js";
import { prepareRead } from "./locate.js";

export const listDir = defineTool({
  name: "list_dir",
  description:
    "Lists one directory, at most 500 names: directories end in /, links show their target, files their size. A name in double quotes is escaped.",
  schema: z.strictObject({ path: z.string().optional().describe("default the workspace") }),
  prepare: (args, { workspace }) =>
    prepareRead(workspace, "list_dir", args.path ?? ".", "directory"),
  execute: (_args, prepared, permit, { workspace }) =>
    listDirectory(granted("read", prepared, permit).permit, workspace),
});
