import { randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { LogHead } from "./chain.js";
import { type Allow, allowSchema } from "./events.js";
import { flushDirectory } from "./log.js";
import { writeWhole } from "./whole.js";

/** What `meta.json` holds. All but `allows` can be made again from the log. Times are ISO 8601. */
export interface Meta {
  readonly title: string;
  /** True where the user gave the title. */
  readonly renamed: boolean;
  readonly workspace: string;
  readonly created: string;
  readonly updated: string;
  readonly model: string | undefined;
  readonly allows: readonly Allow[];
  /** A line that the log held, flushed, when this was written: later ones may have followed. */
  readonly head?: LogHead;
}

const fileSchema = z.object({
  title: z.string(),
  renamed: z.boolean().optional(),
  workspace: z.string(),
  created: z.string(),
  updated: z.string(),
  model: z.string().optional(),
  allows: z.array(z.unknown()).optional(),
  head: z.object({ seq: z.number(), hash: z.string() }).optional().catch(undefined),
});

const TEMPORARY = /^(?:meta\.json|lock)\.[0-9a-f]{16}\.tmp$/;

function allowLine(allow: Allow): string {
  if ("write" in allow) return `{"write": ${JSON.stringify(allow.write)}}`;
  if ("read" in allow) return `{"read": ${JSON.stringify(allow.read)}}`;
  return `{"run": [${allow.run.map((argument) => JSON.stringify(argument)).join(", ")}]}`;
}

/** The file's text: an allow is exactly one line of it. */
export function formatMeta(meta: Meta): string {
  const { allows, renamed, ...rest } = meta;
  const fields = Object.entries({ ...rest, ...(renamed ? { renamed } : {}) })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  const lines = allows.map((allow) => `    ${allowLine(allow)}`);
  const list = lines.length === 0 ? "" : `${lines.join(",\n")}\n`;
  return `{\n${fields.join("")}  "allows": [\n${list}  ]\n}\n`;
}

/** Undefined where the text is no `meta.json`. An allow that cannot be read allows nothing. */
export function parseMeta(text: string): Meta | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { allows = [], model, renamed = false, head, ...rest } = parsed.data;
  return {
    ...rest,
    ...(head === undefined ? {} : { head }),
    renamed,
    model,
    allows: allows.flatMap((allow) => {
      const one = allowSchema.safeParse(allow);
      return one.success ? [one.data] : [];
    }),
  };
}

/** Undefined where there is none, or none that can be read. */
export async function readMeta(directory: string): Promise<Meta | undefined> {
  try {
    return parseMeta(await readFile(join(directory, "meta.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Writes `meta.json` through a temporary file, on disk when it resolves. On any error the old one
 * is as it was. Rejects with the error of the disk.
 */
export async function writeMeta(directory: string, meta: Meta): Promise<void> {
  const path = join(directory, "meta.json");
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  await writeWhole(path, temporary, formatMeta(meta), { flush: true });
  await flushDirectory(dirname(path));
}

/**
 * Takes away what programs that were killed while they wrote have left. For the holder of the lock
 * alone; one that only now asks for the lock makes its file again where it loses it by this.
 */
export async function removeTemporaries(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (TEMPORARY.test(name)) await rm(join(directory, name), { force: true });
  }
}
