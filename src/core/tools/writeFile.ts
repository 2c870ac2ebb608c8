import * as z from "zod";
import { REPLACED_BYTES, WRITE_BYTES } from "../limits.js";
import { nameOf } from "../workspace/faults.js";
import { hasLoneSurrogate } from "../workspace/show.js";
import { ToolError } from "../workspace/types.js";
import { executeChange, prepareChange } from "./change.js";
import { defineTool } from "./define.js";

/** What the content cannot be, whatever is on disk. */
function refuseContent(content: string, bytes: Uint8Array): ToolError | undefined {
  if (hasLoneSurrogate(content)) {
    return new ToolError("content must be valid text: it holds half of a surrogate pair.");
  }
  if (bytes.length <= WRITE_BYTES) return undefined;
  return new ToolError(
    `content has ${bytes.length} bytes, and at most ${WRITE_BYTES} can be written. Write a part, then add to it with search_replace in smaller files, or make the file with run.`,
  );
}

export const writeFile = defineTool({
  name: "write_file",
  description:
    "Writes a whole file of up to 256 KiB, new or replaced, with exactly this content; makes missing directories. To change part of a file use search_replace.",
  schema: z.strictObject({ path: z.string(), content: z.string() }),
  async prepare(args, { workspace }) {
    const bytes = Buffer.from(args.content, "utf8");
    const refused = refuseContent(args.content, bytes);
    if (refused !== undefined) return refused;
    return prepareChange(workspace, "write_file", args.path, REPLACED_BYTES, (before, path) => {
      if (before.bytes !== null && bytes.equals(before.bytes)) {
        return new ToolError(
          `${nameOf(path)} has exactly this content already: there is nothing to change.`,
        );
      }
      return bytes;
    });
  },
  execute: (_args, prepared, permit, { workspace }) =>
    executeChange(workspace, prepared, permit, ({ before }) =>
      before.bytes === null ? "Created" : "Replaced",
    ),
});
