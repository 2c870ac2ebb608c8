import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCore } from "../../../src/core/core.js";
import type {
  ChatAnswer,
  ChatClient,
  ChatRequest,
  ModelCall,
  SendOptions,
} from "../../../src/core/model/chatClient.js";
import type { EventOf, EventType, SessionEvent } from "../../../src/core/session/events.js";
import type { Core, CoreOptions, CoreSettings, LiveSession } from "../../../src/core/turn/live.js";
import { ToolError } from "../../../src/core/workspace/types.js";

/** What a scripted model does with one request. */
export type Step =
  | Partial<ChatAnswer>
  | Error
  | ((request: ChatRequest, options: SendOptions) => Promise<Partial<ChatAnswer>>);

/** A model that is silent until it is cancelled. */
export const hang: Step = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** A model that says what it is told to, in order, and keeps what it was asked. */
export class ScriptedClient implements ChatClient {
  readonly provider = "scripted";
  readonly model = "scripted-1";
  contextTokens = 100_000;
  readonly requests: ChatRequest[] = [];
  readonly steps: Step[];
  constructor(steps: readonly Step[] = []) {
    this.steps = [...steps];
  }

  #heard: () => void = () => {};

  /** Resolves with the next request. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  async send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    this.requests.push(structuredClone(request));
    this.#heard();
    const step = this.steps.shift() ?? { text: "Nothing more to say." };
    if (step instanceof Error) throw step;
    const answer = typeof step === "function" ? await step(request, options) : step;
    return { text: "", calls: [], stop: "end", ...answer };
  }
}

let calls = 0;

/** One call of a scripted answer, with a name of its own. */
export function call(tool: string, args: Record<string, unknown>, name?: string): ModelCall {
  calls++;
  return { call: name ?? `c${calls}`, tool, args };
}

/** One answer that makes these calls. */
export function calling(...made: ModelCall[]): Partial<ChatAnswer> {
  return { calls: made };
}

export interface World {
  readonly home: string;
  readonly workspace: string;
  readonly reports: string[];
  readonly cores: Core[];
  readonly client: ScriptedClient;
  settings: CoreSettings;
  core(overrides?: Partial<CoreOptions>): Core;
  /** A session in a core of its own, whose model goes on with `steps`. */
  start(...steps: readonly Step[]): Promise<LiveSession>;
  dispose(): Promise<void>;
}

/** A home, an empty workspace and a scripted model, in a temporary directory. */
export async function makeWorld(
  steps: readonly Step[] = [],
  parent: string = tmpdir(),
): Promise<World> {
  const base = await realpath(await mkdtemp(join(parent, "countersign-turn-")));
  const home = join(base, "home");
  const workspace = join(base, "ws");
  const userHome = join(base, "user");
  for (const path of [home, workspace, userHome]) await mkdir(path);
  const cores: Core[] = [];
  const world: World = {
    home,
    workspace,
    reports: [],
    cores,
    client: new ScriptedClient(steps),
    settings: { stopHooks: [], trusted: true },
    core(overrides = {}) {
      const core = createCore({
        home,
        userHome,
        version: "0.0.0-test",
        host: "test",
        ripgrep: async () => new ToolError("no ripgrep in this test"),
        env: process.env,
        settings: () => world.settings,
        client: async () => world.client,
        unsaved: () => new Set(),
        report: (message) => void world.reports.push(message),
        ...overrides,
      });
      cores.push(core);
      return core;
    },
    start(...steps) {
      world.client.steps.push(...steps);
      return world.core().newSession(workspace);
    },
    async dispose() {
      await Promise.all(cores.map((core) => core.dispose()));
      await rm(base, { recursive: true, force: true });
    },
  };
  return world;
}

/** The first event of this type that is there or comes. */
export function eventOf<T extends EventType>(
  session: LiveSession,
  type: T,
  which: (event: EventOf<T>) => boolean = () => true,
): Promise<EventOf<T>> {
  const fits = (event: SessionEvent): event is EventOf<T> =>
    event.type === type && which(event as EventOf<T>);
  const there = session.events.find(fits);
  if (there !== undefined) return Promise.resolve(there);
  return nextEvent(session, type, which);
}

/** The next event of this type. */
export function nextEvent<T extends EventType>(
  session: LiveSession,
  type: T,
  which: (event: EventOf<T>) => boolean = () => true,
): Promise<EventOf<T>> {
  return new Promise((resolve) => {
    const listening = session.onEvent((event) => {
      if (event.type !== type || !which(event as EventOf<T>)) return;
      listening.dispose();
      resolve(event as EventOf<T>);
    });
  });
}

/** Resolves when the session reads so. */
export function untilState(session: LiveSession, state: LiveSession["state"]): Promise<void> {
  if (session.state === state) return Promise.resolve();
  return new Promise((resolve) => {
    const listening = session.onDelta((delta) => {
      if (delta.type !== "state" || delta.state !== state) return;
      listening.dispose();
      resolve();
    });
  });
}

/** Starts a turn and waits until the session is idle again. */
export async function askAndWait(session: LiveSession, text: string): Promise<void> {
  const outcome = await session.ask(text);
  if (outcome.outcome !== "started") throw new Error(JSON.stringify(outcome));
  await untilState(session, "idle");
}

export function types(session: LiveSession): EventType[] {
  return session.events.map((event) => event.type);
}

export function results(session: LiveSession): { ok: boolean; result: string }[] {
  return session.events.flatMap((event) =>
    event.type === "call_ended" ? [{ ok: event.ok, result: event.result }] : [],
  );
}

/** How each turn of a session ended. */
export function ends(session: LiveSession): { reason: string; message?: string }[] {
  return session.events.flatMap((event) =>
    event.type === "turn_ended"
      ? [{ reason: event.reason, ...(event.message ? { message: event.message } : {}) }]
      : [],
  );
}
