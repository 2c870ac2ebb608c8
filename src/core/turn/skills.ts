import { readdir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import * as z from "zod";
import { READ_BYTES } from "../limits.js";
import type { ToolResult } from "../workspace/types.js";
import { locateContained, readContained } from "./contained.js";

/** A skill that can be used; its body is read when it is. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The skill's folder, real and absolute. */
  readonly directory: string;
  /** What its files must stay under, real: the workspace or the user's home. */
  readonly root: string;
  /** The folder, relative to `root`. */
  readonly folder: string;
  /** How the model gives the path of its files: relative to the workspace, else absolute. */
  readonly shown: string;
}

/** A folder that should be a skill, and why it is none. */
export interface BrokenSkill {
  readonly where: string;
  readonly fault: string;
}

/** The skills that the model may use, and the faults of the others. */
export interface SkillList {
  readonly skills: readonly Skill[];
  readonly broken: readonly BrokenSkill[];
}

/** Where skills are looked for under a root, in this order. */
const FOLDERS = [".agents/skills", ".claude/skills"];
/** Front matter is looked for in this much of a `SKILL.md`. */
const HEAD_BYTES = 16 * 1024;
/** Skills that are told to the model, and files of one that are named. */
const SKILLS = 100;
/** Folders that are looked into in each place: a workspace may bring any number along. */
const LOOKED_AT = 1_000;
const FILES = 200;
const DEPTH = 4;

const frontMatter = z.object({
  name: z
    .string()
    .max(64, "its name is longer than 64 characters")
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "its name is not made of a-z, 0-9 and single hyphens"),
  description: z
    .string()
    .transform((text) => text.replace(/\s+/g, " ").trim())
    .pipe(
      z
        .string()
        .min(1, "its description is empty")
        .max(1024, "its description is longer than 1,024 characters"),
    ),
});

/** The front matter's text and the body, or what is wrong. */
function split(text: string): { head: string; body: string } | undefined {
  const match = /^---[ \t]*\n([\s\S]*?\n)??---[ \t]*(?:\n|$)/.exec(text);
  if (match === null) return undefined;
  return { head: match[1] ?? "", body: text.slice(match[0].length) };
}

async function parseHead(
  text: string,
  folder: string,
): Promise<{ name: string; description: string } | string> {
  const parts = split(text);
  if (parts === undefined) return "SKILL.md does not begin with front matter between --- lines";
  // Loaded by those who have skills alone.
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    // Aliases could make a small text huge.
    value = parse(parts.head, { maxAliasCount: 0 });
  } catch (error) {
    return `the front matter is no YAML (${(error as Error).message.split("\n")[0]})`;
  }
  if (value === null || value === undefined) return "the front matter is empty";
  const parsed = frontMatter.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.join(".") ?? "";
    const missing = issue?.code === "invalid_type";
    return missing ? `the front matter has no text "${field || "name"}"` : (issue?.message ?? "");
  }
  if (parsed.data.name !== folder) return `its name "${parsed.data.name}" is not its folder's name`;
  return parsed.data;
}

/** `folder` is relative to `root`. Undefined: no skill at all. */
async function readSkill(
  root: string,
  folder: string,
  name: string,
  shown: string,
): Promise<Skill | string | undefined> {
  const located = await locateContained(root, folder);
  if ("fault" in located) return located.fault;
  const file = await readContained(root, `${folder}/SKILL.md`, HEAD_BYTES);
  if (file.kind === "none") return undefined;
  if (file.kind === "fault") return `SKILL.md: ${file.fault}`;
  const head = await parseHead(file.text, name);
  if (typeof head === "string") return head;
  return { ...head, directory: located.real, root, folder, shown };
}

/**
 * The skills of a workspace (real root; undefined: not to be looked at) and of the user's home. A
 * broken one is named with its fault and hides none of the others. Never rejects.
 */
export async function findSkills(workspace: string | undefined, home: string): Promise<SkillList> {
  const skills: Skill[] = [];
  const broken: BrokenSkill[] = [];
  const seen = new Set<string>();
  for (const [base, own] of [
    [workspace, true],
    [home, false],
  ] as const) {
    const root = base === undefined ? undefined : await realpath(base).catch(() => undefined);
    if (root === undefined) continue;
    for (const place of FOLDERS) {
      const parent = join(root, place);
      const located = await locateContained(root, place);
      if ("fault" in located) {
        broken.push({ where: own ? place : parent, fault: located.fault });
        continue;
      }
      const names = await readdir(located.real).catch(() => []);
      if (names.length > LOOKED_AT) {
        const fault = `of its ${names.length} entries only the first ${LOOKED_AT} are looked at`;
        broken.push({ where: own ? place : parent, fault });
      }
      for (const folder of names.sort().slice(0, LOOKED_AT)) {
        const shown = own ? `${place}/${folder}` : join(parent, folder);
        const skill = await readSkill(root, `${place}/${folder}`, folder, shown);
        if (skill === undefined) continue;
        if (typeof skill === "string") broken.push({ where: shown, fault: skill });
        else if (seen.has(skill.name)) {
          broken.push({ where: shown, fault: `there is another skill "${skill.name}"` });
        } else if (skills.length >= SKILLS) {
          broken.push({ where: shown, fault: `there are more than ${SKILLS} skills` });
        } else {
          seen.add(skill.name);
          skills.push(skill);
        }
      }
    }
  }
  return { skills, broken };
}

/** The skill's files, relative, links left out; and whether there are more. */
async function filesOf(directory: string): Promise<{ files: string[]; more: boolean }> {
  const files: string[] = [];
  let more = false;
  const visit = async (path: string, depth: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (files.length >= FILES) {
        more = true;
        return;
      }
      const full = join(path, entry.name);
      if (entry.isDirectory()) {
        if (depth < DEPTH) await visit(full, depth + 1);
        else more = true;
      } else if (entry.isFile()) files.push(relative(directory, full).split(sep).join("/"));
    }
  };
  await visit(directory, 0);
  return { files, more };
}

/** What `use_skill` gives: the body (at most `READ_BYTES` of the file) and the skill's files. */
export async function useSkill(list: SkillList, name: string): Promise<ToolResult> {
  const skill = list.skills.find((one) => one.name === name);
  if (skill === undefined) {
    const names = list.skills.map((one) => one.name).join(", ");
    const there = names === "" ? "There are no skills." : `There are: ${names}.`;
    return { ok: false, text: `There is no skill ${JSON.stringify(name)}. ${there}` };
  }
  const file = await readContained(skill.root, `${skill.folder}/SKILL.md`, READ_BYTES);
  if (file.kind !== "text") {
    const fault = file.kind === "none" ? "its SKILL.md is gone" : file.fault;
    return { ok: false, text: `The skill "${name}" cannot be read: ${fault}.` };
  }
  const body = (split(file.text)?.body ?? file.text).trim();
  const cut = file.cut
    ? `\n[Cut at ${READ_BYTES / 1024} KiB of ${file.bytes} bytes; read_file gives the rest from offset ${READ_BYTES}.]`
    : "";
  const { files, more } = await filesOf(skill.directory);
  const names = files.map((one) => `- ${one}`).join("\n");
  const rest = more ? "\n- … and more" : "";
  return {
    ok: true,
    text: `${body}${cut}\n\nFiles of this skill, in ${skill.shown}:\n${names}${rest}`,
  };
}
