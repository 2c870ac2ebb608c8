import * as z from "zod";
import { WRITE_BYTES } from "../limits.js";
import { nameOf } from "../workspace/faults.js";
import { refuseReplacement, replaceBytes } from "../workspace/replace.js";
import { ToolError } from "../workspace/types.js";
import { executeChange, prepareChange } from "./change.js";
import { defineTool } from "./define.js";

export const searchReplace = defineTool({
  name: "search_replace",
  description:
    "Replaces exact text in a file of up to 256 KiB; the rest stays byte for byte. old must be there exactly once, or set all. Line endings are kept.",
  schema: z.strictObject({
    path: z.string(),
    old: z.string(),
    new: z.string(),
    all: z.boolean().optional().describe("replace every occurrence"),
  }),
  async prepare(args, { workspace }) {
    const refused = refuseReplacement(args.old, args.new);
    if (refused !== undefined) return refused;
    return prepareChange(workspace, "search_replace", args.path, WRITE_BYTES, (before, path) => {
      if (before.bytes === null) {
        return new ToolError(`${nameOf(path)} is not there; write_file makes a new file.`);
      }
      const made = replaceBytes(before.bytes, args.old, args.new, args.all ?? false);
      return made instanceof ToolError
        ? new ToolError(`${nameOf(path)}: ${made.message}`)
        : made.bytes;
    });
  },
  execute: (_args, prepared, permit, { workspace }) =>
    executeChange(workspace, prepared, permit, () => "Replaced the text in"),
});
