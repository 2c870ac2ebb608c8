import { type ChatClient, ChatError } from "../core/model/chatClient.js";
import type { ModelConfig } from "../core/model/index.js";
import { type Environment, modelId } from "./environment.js";

/** Makes a client of a setup; the settings' limits are applied by whoever gives it. */
export type MakeClient = (setup: ModelConfig) => ChatClient;

/** Which model answers in which session, and the clients, made when first needed. */
export class Models {
  readonly #chosen = new Map<string, string>();
  readonly #clients = new Map<string, ChatClient>();

  constructor(
    private readonly environment: Environment,
    private readonly make: MakeClient,
  ) {}

  /** Every model's id and name; the first is the default. */
  get all(): readonly { readonly id: string; readonly name: string }[] {
    return this.environment.models.map((setup) => ({
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
    const known = this.environment.models.find(
      (setup) => setup.provider !== "demo" && setup.model === model,
    );
    if (known !== undefined && !this.#chosen.has(session)) {
      this.#chosen.set(session, modelId(known));
    }
  }

  /** The context window of a session's model in tokens, once its client was made. */
  contextTokens(session: string): number | undefined {
    return this.#clients.get(this.of(session) ?? "")?.contextTokens;
  }

  /** The client of a session's next request; throws `ChatError` where no model is set up. */
  client(session: string): ChatClient {
    const id = this.of(session);
    const setup = this.environment.models.find((one) => modelId(one) === id);
    if (id === undefined || setup === undefined) {
      throw new ChatError(
        "model",
        `No model is set up: ${this.environment.fault ?? "set one up"}.`,
      );
    }
    let client = this.#clients.get(id);
    if (client === undefined) {
      client = this.make(setup);
      this.#clients.set(id, client);
    }
    return client;
  }

  forget(session: string): void {
    this.#chosen.delete(session);
  }
}
