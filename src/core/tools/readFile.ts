import * as z from "zod";
import { readWindow } from "../workspace/read.js";
import { defineTool, granted } from "./define.js";
import { prepareRead } from "./locate.js";

const schema = z
  .strictObject({
    path: z.string(),
    offset: z.int().min(0).optional().describe("bytes, from 0"),
    line: z.int().min(1).optional().describe("from 1"),
  })
  .refine((args) => args.offset === undefined || args.line === undefined, {
    path: ["offset"],
    message: "give offset or line, not both",
  });

export const readFile = defineTool({
  name: "read_file",
  description:
    "Reads up to 32 KiB of a file from a byte offset (default 0) or from a line. Where there is more, the last line in brackets names the offset or line to go on with.",
  schema,
  prepare: (args, { workspace }) => prepareRead(workspace, "read_file", args.path, "file"),
  execute(args, prepared, permit, { workspace, signal }) {
    const from = args.line === undefined ? { offset: args.offset ?? 0 } : { line: args.line };
    return readWindow(granted("read", prepared, permit).permit, workspace, from, { signal });
  },
});
