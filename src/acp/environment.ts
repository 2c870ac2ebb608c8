import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Advice } from "../core/model/errors.js";
import type { ModelConfig } from "../core/model/index.js";

/** What the process was started with, read once. */
export interface Environment {
  /** `COUNTERSIGN_HOME`, absolute: sessions and `settings.json` are in here. */
  readonly home: string;
  /** The models there are, with their keys, which are never printed; the first is the one a new session starts with. */
  readonly models: readonly ModelConfig[];
  /** Why the first model cannot be used as it is set up (says what to set), or undefined. */
  readonly fault: string | undefined;
  /** `COUNTERSIGN_ALLOWS`, absolute: the file of allows for new sessions, or undefined. */
  readonly allowsFile: string | undefined;
}

const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com";

/** Reads `COUNTERSIGN_*`, `OPENAI_*` and `ANTHROPIC_*`; an empty variable counts as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const get = (name: string): string | undefined => env[name]?.trim() || undefined;
  const models: ModelConfig[] = [];
  const faults: string[] = [];

  const openaiModel = get("OPENAI_MODEL");
  const openaiUrl = get("OPENAI_BASE_URL");
  const openaiKey = get("OPENAI_API_KEY");
  if (openaiModel !== undefined) {
    // A local server (Ollama, LM Studio, vLLM) asks for no key.
    models.push({
      provider: "openai",
      baseUrl: openaiUrl ?? OPENAI_URL,
      model: openaiModel,
      ...(openaiKey === undefined ? {} : { key: openaiKey }),
    });
  } else if (openaiUrl !== undefined || openaiKey !== undefined) {
    faults.push("set OPENAI_MODEL to the name of the model");
  }

  const anthropicModel = get("ANTHROPIC_MODEL");
  const anthropicKey = get("ANTHROPIC_API_KEY");
  const anthropicUrl = get("ANTHROPIC_BASE_URL");
  if (anthropicModel !== undefined) {
    models.push({
      provider: "anthropic",
      baseUrl: anthropicUrl ?? ANTHROPIC_URL,
      model: anthropicModel,
      ...(anthropicKey === undefined ? {} : { key: anthropicKey }),
    });
  } else if (anthropicUrl !== undefined || anthropicKey !== undefined) {
    faults.push("set ANTHROPIC_MODEL to the name of the model");
  }

  const wanted = get("COUNTERSIGN_MODEL");
  if (wanted === "demo") {
    models.unshift({ provider: "demo" });
  } else if (wanted !== undefined) {
    const at = models.findIndex((one) => modelId(one) === wanted || one.provider === wanted);
    const [chosen] = at === -1 ? [] : models.splice(at, 1);
    if (chosen !== undefined) models.unshift(chosen);
    else {
      const known = ["demo", ...models.map(modelId)].join(", ");
      return {
        home: homeOf(env),
        models: [],
        fault: `COUNTERSIGN_MODEL is ${JSON.stringify(wanted)}, which is none of: ${known}`,
        allowsFile: fileOf(get("COUNTERSIGN_ALLOWS")),
      };
    }
  }

  const fault =
    models.length > 0
      ? undefined
      : (faults[0] ??
        "set OPENAI_MODEL with OPENAI_API_KEY or OPENAI_BASE_URL, or ANTHROPIC_MODEL with ANTHROPIC_API_KEY, or COUNTERSIGN_MODEL=demo for the demo");
  return {
    home: homeOf(env),
    models,
    fault,
    allowsFile: fileOf(get("COUNTERSIGN_ALLOWS")),
  };
}

/** The name of a model as a session's config option and `COUNTERSIGN_MODEL` know it. */
export function modelId(setup: ModelConfig): string {
  return setup.provider === "demo" ? "demo" : `${setup.provider}:${setup.model}`;
}

/** What this host's user does about an error: keys and names come from the environment. */
export function adviceOf({ provider }: ModelConfig): Advice {
  if (provider === "demo") {
    return {
      setKey: "where the agent is started",
      pickModel: "by OPENAI_MODEL or ANTHROPIC_MODEL where the agent is started",
    };
  }
  const prefix = provider.toUpperCase();
  return {
    setKey: `in ${prefix}_API_KEY where the agent is started`,
    pickModel: `in ${prefix}_MODEL where the agent is started`,
  };
}

function fileOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

/** The platform's data directory, where `COUNTERSIGN_HOME` says nothing else. */
function homeOf(env: NodeJS.ProcessEnv): string {
  const set = env.COUNTERSIGN_HOME?.trim();
  if (set) return resolve(set);
  const user = homedir();
  if (process.platform === "win32") {
    return join(env.LOCALAPPDATA || join(user, "AppData", "Local"), "countersign");
  }
  if (process.platform === "darwin") {
    return join(user, "Library", "Application Support", "countersign");
  }
  return join(env.XDG_DATA_HOME || join(user, ".local", "share"), "countersign");
}
