import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  methods,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import { messageOf } from "../core/messageOf.js";
import type { Allow } from "../core/session/events.js";
import { tellVerdict } from "../core/session/tellVerdict.js";
import type { Core, LiveSession, SessionSummary } from "../core/turn/live.js";
import {
  COMMANDS,
  type Command,
  commandOf,
  listAllows,
  listQueue,
  revokeAllow,
  standing,
  withdrawAsk,
} from "./commands.js";
import type { Models } from "./models.js";
import { configOptions, modeOf, modeState } from "./options.js";
import { promptText } from "./prompt.js";
import { AcpSession } from "./session.js";
import { said } from "./updates.js";
import { checkRoot, sameDirectory } from "./workspace.js";

/** What the agent is built on. */
export interface AgentParts {
  readonly core: Core;
  readonly models: Models;
  readonly version: string;
  /** Throws, with what the user should do, where a session may not be opened in `root` (real). */
  readonly admit: (root: string) => void;
  /** The user's grants for a new session in `root` (real); throws where they cannot be obeyed. */
  readonly allows: (root: string) => readonly Allow[];
  readonly report: (message: string) => void;
}

/** The agent's side of one connection: its handlers, and the sessions that are open on it. */
export class Agent {
  readonly #sessions = new Map<string, AcpSession>();
  /** Aborts when the client is gone, before anything that waited for it fails. */
  #gone: AbortSignal = new AbortController().signal;
  #capabilities: ClientCapabilities = {};

  constructor(private readonly parts: AgentParts) {}

  /** The app to connect to a stream. */
  app(): AgentApp {
    const { parts } = this;
    return agent({ name: "countersign" })
      .onConnect((connection) => {
        this.#gone = connection.signal;
      })
      .onRequest(methods.agent.initialize, ({ params }) => {
        this.#capabilities = params.clientCapabilities ?? {};
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: "countersign", title: "Countersign", version: parts.version },
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { embeddedContext: true, image: false, audio: false },
            mcpCapabilities: { http: false, sse: false },
            sessionCapabilities: { list: {}, resume: {}, close: {} },
          },
          authMethods: [],
        };
      })
      .onRequest(methods.agent.authenticate, () => {
        throw RequestError.invalidParams(
          undefined,
          "there is nothing to sign in to: keys come from the environment",
        );
      })
      .onRequest(methods.agent.session.new, async ({ params, client }) => {
        const { cwd } = params;
        const allows = this.#admit(params, parts.allows);
        this.#noServers(params.mcpServers);
        const session = this.#attach(await parts.core.newSession(cwd, { allows }), cwd, client);
        this.#afterResponse(session);
        return { sessionId: session.live.id, ...this.#choices(session) };
      })
      .onRequest(methods.agent.session.load, async ({ params, client }) => {
        const session = await this.#open(params, client);
        await session.replay();
        this.#afterResponse(session);
        return this.#choices(session);
      })
      .onRequest(methods.agent.session.resume, async ({ params, client }) => {
        const session = await this.#open(params, client);
        session.catchUp();
        this.#afterResponse(session);
        return this.#choices(session);
      })
      .onRequest(methods.agent.session.list, async ({ params }) => {
        const { cwd } = params;
        const all = await parts.core.listSessions();
        const wanted = cwd ? all.filter((one) => sameDirectory(one.workspace, cwd)) : all;
        return {
          sessions: wanted.map((one) => ({
            sessionId: one.id,
            cwd: one.workspace,
            title: one.title,
            updatedAt: one.updated,
          })),
        };
      })
      .onRequest(methods.agent.session.close, async ({ params }) => {
        const session = this.#session(params.sessionId);
        await session.live.cancel();
        this.#sessions.delete(params.sessionId);
        parts.models.forget(params.sessionId);
        await session.close();
        return {};
      })
      .onRequest(methods.agent.session.setMode, ({ params }) => {
        this.#setMode(this.#session(params.sessionId), params.modeId);
        return {};
      })
      .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
        const session = this.#session(params.sessionId);
        const { value } = params;
        if (params.configId === "mode" && typeof value === "string") {
          this.#setMode(session, value);
        } else if (params.configId === "model" && typeof value === "string") {
          if (!parts.models.choose(params.sessionId, value)) {
            throw RequestError.invalidParams(undefined, `there is no model ${value}`);
          }
        } else {
          throw RequestError.invalidParams(undefined, `there is no option ${params.configId}`);
        }
        return { configOptions: configOptions(params.sessionId, session.mode, parts.models) };
      })
      .onRequest(methods.agent.session.prompt, ({ params, signal }) => {
        const session = this.#session(params.sessionId);
        const prompt = promptText(params.prompt);
        if ("unfit" in prompt) throw RequestError.invalidParams(undefined, prompt.unfit);
        const command = commandOf(prompt.text);
        return command === undefined
          ? session.prompt(prompt.text, signal)
          : this.#command(session, command, signal);
      })
      .onNotification(methods.agent.session.cancel, async ({ params }) => {
        const session = this.#sessions.get(params.sessionId);
        if (session === undefined) {
          parts.report(`session/cancel names no open session: ${params.sessionId}`);
          return;
        }
        await session.cancel();
      });
  }

  /** The client is gone: sessions let go of their locks, and open cards stay open in the log. */
  async dispose(): Promise<void> {
    const open = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(open.map((session) => session.close()));
  }

  #session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  }

  /** Checks what a client wants as a workspace, and gives what `of` makes of it. */
  #admit<T>(
    params: { cwd: string; additionalDirectories?: string[] | null },
    of: (root: string) => T,
  ): T {
    if (params.additionalDirectories?.length) {
      throw RequestError.invalidParams(
        undefined,
        "a session has one workspace: open another session for another directory",
      );
    }
    const root = checkRoot(params.cwd);
    if ("unfit" in root) throw RequestError.invalidParams(undefined, root.unfit);
    try {
      this.parts.admit(root.real);
      return of(root.real);
    } catch (error) {
      throw RequestError.invalidParams(undefined, messageOf(error));
    }
  }

  async #open(
    params: { sessionId: string; cwd: string; additionalDirectories?: string[] | null },
    client: AgentContext,
  ): Promise<AcpSession> {
    const known = (await this.parts.core.listSessions()).find((one) => one.id === params.sessionId);
    if (known === undefined) throw RequestError.sessionNotFound(params.sessionId);
    if (!sameDirectory(params.cwd, known.workspace)) {
      throw RequestError.invalidParams(
        undefined,
        `the session's workspace is ${known.workspace}, and cwd is ${params.cwd}`,
      );
    }
    this.#admit(params, () => undefined);
    const open = this.#sessions.get(known.id);
    if (open !== undefined) return open;
    this.parts.models.resume(known.id, known.model);
    return this.#attach(await this.#openLive(known), known.workspace, client);
  }

  async #openLive(known: SessionSummary): Promise<LiveSession> {
    try {
      return await this.parts.core.openSession(known.id);
    } catch (error) {
      throw new RequestError(-32603, `The session cannot be opened: ${messageOf(error)}`);
    }
  }

  #attach(live: LiveSession, root: string, client: AgentContext): AcpSession {
    const { parts } = this;
    const session = new AcpSession(live, root, {
      client,
      gone: this.#gone,
      notices: () => this.#capabilities.session?.notices != null,
      contextTokens: () => parts.models.contextTokens(live.id),
      filesChanged: (paths) => parts.core.filesChanged(paths),
      title: async () => (await parts.core.listSessions()).find((one) => one.id === live.id)?.title,
      report: parts.report,
    });
    this.#sessions.set(live.id, session);
    return session;
  }

  #choices(session: AcpSession) {
    return {
      modes: modeState(session.mode),
      configOptions: configOptions(session.live.id, session.mode, this.parts.models),
    };
  }

  /** What a client can take only once it knows the session by the response. */
  #afterResponse(session: AcpSession): void {
    setImmediate(() => {
      session.tell({
        sessionUpdate: "available_commands_update",
        availableCommands: [...COMMANDS],
      });
      const note = standing(session.live);
      if (note !== undefined) session.tell(said("agent_message_chunk", note, "standing"));
      session.askOpen();
    });
  }

  #setMode(session: AcpSession, id: string): void {
    const mode = modeOf(id);
    if (mode === undefined) throw RequestError.invalidParams(undefined, `there is no mode ${id}`);
    session.setMode(mode);
    session.tell({ sessionUpdate: "current_mode_update", currentModeId: mode });
    session.tell({
      sessionUpdate: "config_option_update",
      configOptions: configOptions(session.live.id, mode, this.parts.models),
    });
  }

  async #command(
    session: AcpSession,
    command: Command,
    signal: AbortSignal,
  ): Promise<PromptResponse> {
    switch (command.name) {
      case "go-on":
        return session.goOn(signal);
      case "undo":
      case "redo":
        return session.undo(command.name, signal);
      case "allows":
        return session.reply(listAllows(session.live));
      case "queue":
        return session.reply(listQueue(session.live));
      case "withdraw":
        return session.reply(await withdrawAsk(session.live, command.number));
      case "verify":
        return session.reply(tellVerdict(await this.parts.core.verifyLog(session.live.id)));
      case "revoke":
        return session.reply(await revokeAllow(session.live, command.number));
    }
  }

  /** Servers for tools of other makers are not started: what they did would pass no gate. */
  #noServers(servers: readonly { readonly name: string }[]): void {
    if (servers.length === 0) return;
    const names = servers.map((one) => one.name).join(", ");
    this.parts.report(`MCP servers are not used by Countersign and were not started: ${names}`);
  }
}
