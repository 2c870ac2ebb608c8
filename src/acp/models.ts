import { type ChatClient, ChatError } from "../core/model/chatClient.js";
import type { ModelConfig } from "../core/model/index.js";
import { type Environment, modelId } from "./environment.js";
import type { FileSettings } from "./settings.js";

type ModelSettings = Pick<FileSettings, "headers" | "limits">;

/** What `Models` is built on. */
export interface ModelsParts {
  readonly environment: Environment;
  /** Makes a client of a setup, which has the user's settings by then. */
  readonly make: (setup: ModelConfig) => ChatClient;
  /** The settings in force; another object where they have changed. */
  readonly settings: () => ModelSettings;
}

interface Made {
  readonly client: ChatClient;
  readonly settings: ModelSettings;
}

/** A setup under the user's settings; what they leave open is as the setup has it. */
function withSettings(setup: ModelConfig, { headers, limits }: ModelSettings): ModelConfig {
  if (setup.provider === "demo") return setup;
  const { maxTokens = setup.maxTokens, contextTokens = setup.contextTokens, idleMs } = limits;
  const limited = { ...setup, maxTokens, contextTokens, idleMs };
  // They are for the server that the user named, and for no other.
  return setup.provider === "openai" ? { headers, ...limited } : limited;
}

/** Which model answers in which session, and the clients, made when first needed. */
export class Models {
  readonly #chosen = new Map<string, string>();
  readonly #made = new Map<string, Made>();

  constructor(private readonly parts: ModelsParts) {}

  /** Every model's id and name; the first is the default. */
  get all(): readonly { readonly id: string; readonly name: string }[] {
    return this.parts.environment.models.map((setup) => ({
      id: modelId(setup),
      name: setup.provider === "demo" ? "Demo" : setup.model,
    }));
  }

  /** The id of a session's model, or undefined where none is set up. */
  of(session: string): string | undefined {
    return this.#chosen.get(session) ?? this.all[0]?.id;
  }

  /** False where there is no such model. */
  choose(session: string, id: string): boolean {
    if (!this.all.some((one) => one.id === id)) return false;
    this.#chosen.set(session, id);
    return true;
  }

  /** A loaded session goes on with its last model, where that is still set up. */
  resume(session: string, model: string | undefined): void {
    const known = this.parts.environment.models.find(
      (setup) => setup.provider !== "demo" && setup.model === model,
    );
    if (known !== undefined && !this.#chosen.has(session)) {
      this.#chosen.set(session, modelId(known));
    }
  }

  /** The context window of a session's model in tokens, once its client was made. */
  contextTokens(session: string): number | undefined {
    return this.#made.get(this.of(session) ?? "")?.client.contextTokens;
  }

  /** The client of a session's next request; throws `ChatError` where no model is set up. */
  client(session: string): ChatClient {
    const id = this.of(session);
    const setup = this.parts.environment.models.find((one) => modelId(one) === id);
    if (id === undefined || setup === undefined) {
      throw new ChatError(
        "model",
        `No model is set up: ${this.parts.environment.fault ?? "set one up"}.`,
      );
    }
    const settings = this.parts.settings();
    const known = this.#made.get(id);
    if (known?.settings === settings) return known.client;
    const client = this.parts.make(withSettings(setup, settings));
    this.#made.set(id, { client, settings });
    return client;
  }

  forget(session: string): void {
    this.#chosen.delete(session);
  }
}
