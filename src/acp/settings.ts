import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../core/messageOf.js";
import { type ModelLimits, modelLimits } from "../core/model/given.js";
import type { StopHook } from "../core/turn/live.js";
import { isUnder } from "./workspace.js";

// What VS Code would mark in its editor is an error here: nothing else would tell of it.
const count = z.int().min(0).optional();

const schema = z.looseObject({
  "countersign.hooks.stop": z
    .array(
      z.strictObject({
        argv: z.array(z.string()).min(1),
        timeout: z.number().min(1).optional(),
      }),
    )
    .optional(),
  "countersign.ripgrep.path": z.string().optional(),
  "countersign.models.openai.headers": z.record(z.string(), z.string()).optional(),
  "countersign.models.maxTokens": count,
  "countersign.models.contextTokens": count,
  "countersign.models.idleTimeout": count,
});

/** What `settings.json` in `COUNTERSIGN_HOME` says. */
export interface FileSettings {
  readonly stopHooks: readonly StopHook[];
  readonly ripgrep: string | undefined;
  /** Extra headers for the OpenAI-compatible server that the environment names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: ModelLimits;
}

const NONE: FileSettings = {
  stopHooks: [],
  ripgrep: undefined,
  headers: {},
  limits: modelLimits({}),
};

/** A settings file that is there and cannot be obeyed; `message` says what is wrong with it. */
export class SettingsError extends Error {}

/**
 * `settings.json`, read anew when it has changed. A file that has become wrong while the agent
 * runs leaves the last good settings in force, so that a typing error takes no hook away.
 */
export class SettingsFile {
  readonly #path: string;
  #stamp = "";
  #good: FileSettings | undefined;
  #fault: SettingsError | undefined;

  constructor(
    home: string,
    private readonly report: (message: string) => void,
  ) {
    this.#path = join(home, "settings.json");
  }

  /** The settings in force, the same object until the file changes; throws `SettingsError` where there never were good ones. */
  get(): FileSettings {
    const stamp = this.#look();
    if (stamp !== this.#stamp || stamp === "unreadable") {
      this.#stamp = stamp;
      try {
        this.#good = stamp === "none" ? NONE : this.#read();
        this.#fault = undefined;
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        this.#fault = error;
        this.report(error.message);
      }
    }
    if (this.#good === undefined)
      throw this.#fault ?? new SettingsError(`cannot read ${this.#path}`);
    return this.#good;
  }

  /**
   * Throws `SettingsError` where there are settings inside the workspace `root`: a repository
   * that brings its own would start programs by them.
   */
  check(root: string): void {
    this.get();
    if (this.#stamp === "none" || !isUnder(this.#path, root)) return;
    throw new SettingsError(
      `${this.#path} is inside the workspace ${root}; set COUNTERSIGN_HOME to a directory outside of it`,
    );
  }

  #look(): string {
    try {
      const stat = statSync(this.#path, { bigint: true });
      return `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      return code === "ENOENT" || code === "ENOTDIR" ? "none" : "unreadable";
    }
  }

  #read(): FileSettings {
    let json: unknown;
    try {
      json = JSON.parse(readFileSync(this.#path, "utf8").replace(/^\ufeff/, ""));
    } catch (error) {
      throw new SettingsError(`${this.#path}: ${messageOf(error)}`);
    }
    const parsed = schema.safeParse(json);
    if (!parsed.success) {
      throw new SettingsError(`${this.#path}: ${z.prettifyError(parsed.error)}`);
    }
    const { data } = parsed;
    return {
      stopHooks: (data["countersign.hooks.stop"] ?? []).map(({ argv, timeout }) =>
        timeout === undefined ? { argv } : { argv, timeout },
      ),
      ripgrep: data["countersign.ripgrep.path"] || undefined,
      headers: data["countersign.models.openai.headers"] ?? {},
      limits: modelLimits({
        maxTokens: data["countersign.models.maxTokens"],
        contextTokens: data["countersign.models.contextTokens"],
        idleTimeout: data["countersign.models.idleTimeout"],
      }),
    };
  }
}
