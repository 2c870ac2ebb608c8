import { isLoopback } from "../core/model/errors.js";
import { bestModel, findOllama, OLLAMA_URL, smallContext } from "../core/model/ollama.js";
import type { Environment } from "./environment.js";

/**
 * The environment, and where it names no model at all: Ollama's, if it answers on this machine, the
 * best first. What the user has begun to set up is never passed over. Takes 1.5 s at most.
 */
export async function orOllama(
  environment: Environment,
  env: NodeJS.ProcessEnv,
  report: (message: string) => void,
): Promise<Environment> {
  const begun = ["COUNTERSIGN_MODEL", "OPENAI_", "ANTHROPIC_"];
  const named = Object.entries(env).some(
    ([name, value]) => value?.trim() && begun.some((prefix) => name.startsWith(prefix)),
  );
  const url = ollamaUrl(env.OLLAMA_HOST);
  if (named || environment.models.length > 0 || url === undefined) return environment;
  const ollama = await findOllama({ url });
  const best = bestModel(ollama?.models ?? []);
  if (ollama === undefined || best === undefined) return environment;
  const others = ollama.models.filter((model) => model !== best && model.tools !== false);
  const note = smallContext(best);
  if (note !== undefined) report(note);
  return {
    ...environment,
    models: [best, ...others].map(({ name, contextTokens }) => ({
      provider: "openai",
      baseUrl: ollama.baseUrl,
      model: name,
      contextTokens,
      // The user's extra headers are for the server that they named.
      headers: {},
    })),
    fault: undefined,
  };
}

/** Where Ollama's own variable says that it answers; undefined where that is another machine. */
export function ollamaUrl(host: string | undefined): string | undefined {
  const set = host?.trim();
  if (!set) return OLLAMA_URL;
  const whole = /^https?:\/\//i.test(set) ? set : `http://${set.replace(/^:/, "127.0.0.1:")}`;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  if (url.port === "" && whole !== set) url.port = "11434";
  // Where it listens on every network, it answers here too.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return isLoopback(url.href) ? url.origin : undefined;
}
