import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { eventOfLine } from "../../support/logLine.js";
import {
  type Script,
  type ScriptedModel,
  startScriptedModel,
} from "../../support/scriptedModel.js";
import { Conversation } from "./schema.js";

/** The built agent, or `COUNTERSIGN_ACP` while one works on it. */
export const AGENT =
  process.env.COUNTERSIGN_ACP ?? fileURLToPath(new URL("../../../dist/acp.js", import.meta.url));

/** A home, a workspace and a model, removed by `dispose`. */
export interface World {
  readonly dir: string;
  readonly home: string;
  readonly workspace: string;
  readonly model: ScriptedModel;
  readonly env: NodeJS.ProcessEnv;
  file(path: string): Promise<string>;
  /** A session's log as it is on disk. */
  log(session: string): Promise<SessionEvent[]>;
  meta(session: string): Promise<{ allows?: unknown }>;
  sessions(): Promise<string[]>;
  dispose(): Promise<void>;
}

/** `files`: path in the workspace → text. */
export async function makeWorld(
  script: Script,
  files: Readonly<Record<string, string>> = {},
): Promise<World> {
  assert.ok(existsSync(AGENT), `${AGENT} is not there: run "npm run build" first`);
  const dir = await realpath(await mkdtemp(join(tmpdir(), "countersign-acp-")));
  const home = join(dir, "home");
  const workspace = join(dir, "workspace");
  await mkdir(home);
  await mkdir(workspace);
  for (const [path, text] of Object.entries(files)) {
    const file = join(workspace, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const model = await startScriptedModel(script);
  const sessionFile = (session: string, name: string): Promise<string> =>
    readFile(join(home, "sessions", session, name), "utf8");
  return {
    dir,
    home,
    workspace,
    model,
    env: {
      PATH: process.env.PATH,
      // The user's own skills are no part of a test.
      HOME: dir,
      COUNTERSIGN_HOME: home,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "sk-test-0123456789",
      OPENAI_MODEL: "scripted",
    },
    file: (path) => readFile(join(workspace, path), "utf8"),
    log: async (session) =>
      (await sessionFile(session, "log.jsonl"))
        .split("\n")
        .filter((line) => line !== "")
        .map(eventOfLine),
    meta: async (session) => JSON.parse(await sessionFile(session, "meta.json")) as object,
    sessions: () => readdir(join(home, "sessions")),
    async dispose() {
      await model.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** What the agent asked, and how to answer it. */
export interface Asked {
  readonly request: RequestPermissionRequest;
  /** Aborts when the agent takes its request back. */
  readonly signal: AbortSignal;
  select(optionId: string, note?: string): void;
  cancel(): void;
  respond(response: unknown): void;
  fail(error: Error): void;
}

/** The official SDK's client on the built agent, with every line checked on its way. */
export class Editor {
  readonly updates: SessionNotification[] = [];
  readonly asked: Asked[] = [];
  readonly conversation = new Conversation();
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  stderr = "";
  readonly #connection: ClientConnection;
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly world: World,
    options: { readonly env?: NodeJS.ProcessEnv; readonly node?: string } = {},
  ) {
    const child = spawn(options.node ?? process.execPath, [AGENT], {
      cwd: world.dir,
      env: { ...world.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    child.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
    const { conversation } = this;
    const stream = ndJsonStream(
      tapped(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, (line) =>
        conversation.check("out", line),
      ),
      (Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>).pipeThrough(
        tap((line) => conversation.check("in", line)),
      ),
    );
    this.#connection = client({ name: "test" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params);
        this.#wake();
      })
      .onRequest(
        methods.client.session.requestPermission,
        ({ params, signal }) =>
          new Promise<RequestPermissionResponse>((resolve, reject) => {
            this.asked.push({
              request: params,
              signal,
              select: (optionId, note) =>
                resolve({
                  outcome: { outcome: "selected", optionId },
                  ...(note === undefined ? {} : { _meta: { note } }),
                }),
              cancel: () => resolve({ outcome: { outcome: "cancelled" } }),
              respond: (response) => resolve(response as RequestPermissionResponse),
              fail: reject,
            });
            this.#wake();
          }),
      )
      .connect(stream);
  }

  get agent(): ClientConnection["agent"] {
    return this.#connection.agent;
  }

  async initialize(clientCapabilities: ClientCapabilities = {}) {
    return this.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities,
      clientInfo: { name: "test", version: "1" },
    });
  }

  /** A new session in the world's workspace. */
  async open(cwd = this.world.workspace): Promise<string> {
    await this.initialize();
    return (await this.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
  }

  prompt(sessionId: string, text: string, cancellationSignal?: AbortSignal) {
    return this.agent.request(
      methods.agent.session.prompt,
      { sessionId, prompt: [{ type: "text", text }] },
      cancellationSignal === undefined ? {} : { cancellationSignal },
    );
  }

  load(sessionId: string, cwd = this.world.workspace) {
    return this.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** The n-th request for permission, from 0, as soon as it is there. */
  ask(n: number): Promise<Asked> {
    return this.until(() => this.asked[n], `request for permission ${n}`);
  }

  /** The first update that `pick` makes something of, as soon as it is there. */
  update<T>(pick: (update: SessionUpdate) => T | undefined, what: string): Promise<T> {
    return this.until(() => {
      for (const { update } of this.updates) {
        const picked = pick(update);
        if (picked !== undefined) return picked;
      }
      return undefined;
    }, what);
  }

  /** Polls at every message of the agent's; fails when the agent is gone. */
  until<T>(pick: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pick();
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
      void this.exited.then((code) => {
        if (this.#waiting.delete(look)) {
          reject(new Error(`the agent ended (${code}) before: ${what}\n${this.stderr}`));
        }
      });
    });
  }

  /** What the agent said, joined. */
  text(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"): string {
    return this.updates
      .map(({ update }) =>
        update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : "",
      )
      .join("");
  }

  /** Each status that a call was reported with, in order. */
  statuses(toolCallId: string): string[] {
    return this.updates.flatMap(({ update }) =>
      (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") &&
      update.toolCallId === toolCallId &&
      update.status != null
        ? [update.status]
        : [],
    );
  }

  /** Ends stdin, as a client that goes away does, and waits for the agent's end. */
  async leave(): Promise<number | null> {
    this.child.stdin?.end();
    return this.exited;
  }

  /** Ends the agent, and fails where a message did not fit the schema. */
  async close(): Promise<void> {
    await this.leave();
    this.#connection.close();
    this.conversation.assertClean();
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}

function tap(line: (text: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const lines = new Lines(line);
  return new TransformStream({
    transform(chunk, controller) {
      lines.push(chunk);
      controller.enqueue(chunk);
    },
  });
}

function tapped(
  output: WritableStream<Uint8Array>,
  line: (text: string) => void,
): WritableStream<Uint8Array> {
  const through = tap(line);
  through.readable.pipeTo(output).catch(() => {});
  return through.writable;
}

class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";
  constructor(private readonly line: (text: string) => void) {}
  push(chunk: Uint8Array): void {
    const parts = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) if (part.trim() !== "") this.line(part);
  }
}
