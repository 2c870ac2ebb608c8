import { AGENTS_MD_BYTES } from "../limits.js";
import type { ToolResult, Workspace } from "../workspace/types.js";
import { readContained } from "./contained.js";
import { systemPrompt } from "./prompt.js";
import { findSkills, type SkillList, useSkill } from "./skills.js";

export interface PromptOptions {
  readonly workspace: Workspace;
  /** The user's home directory, for their own skills. */
  readonly userHome: string;
  /** ISO 8601. */
  readonly started: string;
  readonly trusted: () => boolean;
  readonly report: (message: string) => void;
}

interface Made {
  readonly trusted: boolean;
  readonly system: string;
  readonly skills: SkillList;
}

/**
 * The system prompt of an open session and the skills it names: read when first asked for, and
 * the same from then on, so that a provider's cache holds; anew only where trust is given.
 */
export class PromptSource {
  #made: Promise<Made> | undefined;
  #trusted: boolean | undefined;
  constructor(private readonly options: PromptOptions) {}

  async system(): Promise<string> {
    return (await this.#current()).system;
  }

  async useSkill(name: string): Promise<ToolResult> {
    return useSkill((await this.#current()).skills, name);
  }

  #current(): Promise<Made> {
    const trusted = this.options.trusted();
    if (this.#made === undefined || this.#trusted !== trusted) {
      this.#trusted = trusted;
      this.#made = this.#make(trusted);
    }
    return this.#made;
  }

  async #make(trusted: boolean): Promise<Made> {
    const { workspace, userHome, started, report } = this.options;
    const skills = await findSkills(trusted ? workspace.realRoot : undefined, userHome);
    for (const { where, fault } of skills.broken) report(`skill ${where}: ${fault}`);
    const file = trusted
      ? await readContained(workspace.realRoot, "AGENTS.md", AGENTS_MD_BYTES)
      : { kind: "none" as const };
    if (file.kind === "fault") report(`AGENTS.md is left out: ${file.fault}`);
    const system = systemPrompt({
      workspace: workspace.root,
      platform: process.platform,
      day: started.slice(0, 10),
      trusted,
      agents: file.kind === "text" ? { text: file.text, cut: file.cut } : undefined,
      skills,
    });
    return { trusted, system, skills };
  }
}
