import * as z from "zod";
import type { ToolSpec } from "../model/chatClient.js";
import { ToolError } from "../workspace/types.js";
import { ask } from "./ask.js";
import { finish } from "./finish.js";
import { grep } from "./grep.js";
import { listDir } from "./listDir.js";
import { readFile } from "./readFile.js";
import { run } from "./run.js";
import { searchReplace } from "./searchReplace.js";
import type { Tool } from "./tool.js";
import { useSkill } from "./useSkill.js";
import { writeFile } from "./writeFile.js";

/** The tools a turn can call. */
export const tools: readonly Tool[] = [
  readFile,
  grep,
  listDir,
  searchReplace,
  writeFile,
  run,
  ask,
  finish,
  useSkill,
];

/** The tool of this name, or an error that lists the names there are. */
export function findTool(name: string): Tool | ToolError {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((one) => one.name).join(", ");
  return new ToolError(`There is no tool named ${JSON.stringify(name)}. The tools are: ${names}.`);
}

/** The tools as a model is told of them. */
export function toolSpecs(): ToolSpec[] {
  return tools.map(({ name, description, schema }) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
      io: "input",
      // A limit that says nothing to a model and costs it tokens.
      override: ({ jsonSchema }) => {
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    return { name, description, parameters };
  });
}

/** Where in the arguments something is wrong, as a model would write it: `argv[1]`. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

/** The arguments as the tool's schema has them, or an error that names each wrong field. */
export function parseArgs(tool: Tool, args: unknown): unknown {
  const parsed = tool.schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => {
    const field = fieldOf(issue.path);
    return field === "" ? issue.message : `${field}: ${issue.message}`;
  });
  return new ToolError(
    `Wrong arguments for ${tool.name}: ${faults.join("; ")}. Correct them and call again.`,
  );
}
