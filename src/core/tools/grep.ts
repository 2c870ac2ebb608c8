import * as z from "zod";
import {
  patternFault,
  refuseSearch,
  type SearchOptions,
  searchFiles,
} from "../workspace/search.js";
import { defineTool, granted } from "./define.js";
import { prepareRead } from "./locate.js";

const schema = z.strictObject({
  pattern: z.string().describe("ripgrep regex"),
  path: z.string().optional().describe("file or directory, default the workspace"),
  glob: z.string().optional().describe('files to search, relative to path, such as "*.ts"'),
  literal: z.boolean().optional().describe("pattern is plain text"),
  ignore_case: z.boolean().optional(),
  all: z.boolean().optional().describe("ignored and hidden files too"),
});

function optionsOf(args: z.infer<typeof schema>): SearchOptions {
  const { pattern, glob, literal, all } = args;
  return { pattern, glob, literal, all, ignoreCase: args.ignore_case };
}

export const grep = defineTool({
  name: "grep",
  description:
    "Searches files with ripgrep; gives path:line:text, at most 200 matches. Ignored, hidden and binary files are skipped.",
  schema,
  async prepare(args, { workspace, signal }) {
    const options = optionsOf(args);
    const refused = refuseSearch(options);
    if (refused !== undefined) return refused;
    const prepared = await prepareRead(workspace, "grep", args.path ?? ".", "any");
    // A broken pattern must not cost the user an answer; inside, the search itself says so.
    if ("path" in prepared && prepared.path.kind === "outside") {
      return (await patternFault(workspace, options, signal)) ?? prepared;
    }
    return prepared;
  },
  execute(args, prepared, permit, { workspace, signal }) {
    const { permit: own } = granted("read", prepared, permit);
    return searchFiles(own, workspace, optionsOf(args), { signal });
  },
});
