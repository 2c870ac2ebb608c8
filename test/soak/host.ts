/**
 * The host that the soak kills: the real core with the real clients, several sessions at once, a
 * person who answers. It takes orders as lines on stdin and tells what it does on stdout.
 */
import { createInterface } from "node:readline";
import { createCore } from "../../src/core/core.js";
import type { ChatClient } from "../../src/core/model/chatClient.js";
import { createClient } from "../../src/core/model/index.js";
import type { Core, CoreOptions, LiveSession, StopHook } from "../../src/core/turn/live.js";
import { findRipgrep } from "../../src/core/workspace/ripgrep.js";
import { assertValid } from "../unit/turn/valid.js";
import { makeMove } from "./moves.js";
import { Person } from "./person.js";
import { Random } from "./random.js";
import { type OpenOrder, orderSchema, type Word } from "./words.js";

const HOOKS: readonly (readonly StopHook[])[] = [
  ...[[], [], []],
  [{ argv: ["true"] }],
  [{ argv: ["true"] }, { argv: ["sh", "-c", "echo not yet >&2; exit 2"] }],
  [{ argv: ["sleep", "30"], timeout: 1 }],
  [{ argv: ["no-such-hook"] }],
];

function say(word: Word): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

class Host {
  readonly #order: OpenOrder;
  readonly #core: Core;
  readonly #random: Random;
  readonly #sessions: LiveSession[] = [];
  readonly #people: Person[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #ended = false;

  constructor(order: OpenOrder) {
    this.#order = order;
    this.#random = new Random("host", order.seed, order.number);
    this.#core = this.#newCore();
  }

  #newCore(): Core {
    const { home, workspace, calm } = this.#order;
    const stopHooks = calm ? [] : (HOOKS[this.#random.below(HOOKS.length)] ?? []);
    const options: CoreOptions = {
      home,
      userHome: home,
      version: "0.0.0-soak",
      host: "soak",
      ripgrep: () => findRipgrep({ packaged: process.cwd(), platform: process.platform }),
      env: process.env,
      settings: () => ({ stopHooks, trusted: true }),
      client: async () => this.#client(),
      unsaved: () => new Set(this.#random.chance(0.05) ? [`${workspace}/files/a.txt`] : []),
      report: (message) => this.#bug(message),
    };
    return createCore(options);
  }

  #client(): ChatClient {
    const { origin, calm } = this.#order;
    const provider = this.#random.pick(["openai", "anthropic"] as const);
    const baseUrl = provider === "openai" ? `${origin}/v1` : origin;
    const key = `sk-soak-${provider}`;
    const idleMs = calm ? 20_000 : 500;
    const client = createClient({ provider, baseUrl, model: "scripted", key, idleMs });
    return {
      provider: client.provider,
      model: client.model,
      contextTokens: calm ? client.contextTokens : this.#random.pick([6_000, 30_000, 128_000]),
      send: (request, options) => {
        try {
          assertValid(request);
        } catch (error) {
          this.broken("every request valid", String((error as Error).message));
        }
        return client.send(request, options);
      },
    };
  }

  get #disk(): boolean {
    const { full, fileLimit } = this.#order.round;
    return full !== undefined || fileLimit !== undefined;
  }

  /** On a disk that fails, what names the disk is no bug. */
  #bug(message: string): void {
    const ofDisk = /Not saved|could not be written|ENOSPC|EFBIG|no space|too large/i;
    if (this.#disk && ofDisk.test(message))
      say({ word: "did", what: "report a disk that is full" });
    else this.broken("no bug", message);
  }

  broken(invariant: string, what: string): void {
    say({ word: "broken", invariant, what });
  }

  readonly attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      // A move that was on its way while the session was closed and opened again.
      if ((error as Error).message === "This session is closed.") return undefined;
      this.#bug(`${(error as Error).stack}`);
      return undefined;
    }
  };

  async open(): Promise<void> {
    const { ids, sessions, workspace } = this.#order;
    const opened: LiveSession[] = [];
    for (const id of ids) opened.push(await this.#core.openSession(id));
    while (opened.length < sessions) opened.push(await this.#core.newSession(workspace));
    say({
      word: "opened",
      sessions: opened.map(({ id, readOnly, damage, state }) => ({
        id,
        ...(readOnly === undefined ? {} : { readOnly }),
        damage: damage.map(({ reason }) => reason),
        state,
      })),
    });
    this.#sessions.push(...opened);
  }

  #person(session: LiveSession): Person {
    const { workspace, calm, seed, number } = this.#order;
    const random = new Random("person", seed, number, this.#people.length);
    const did = (what: string): void => say({ word: "did", what });
    const broken = (invariant: string, what: string): void => this.broken(invariant, what);
    return new Person(session, { workspace, calm, random, did, broken, attempt: this.attempt });
  }

  go(): void {
    const { round, calm, number } = this.#order;
    for (const session of this.#sessions) this.#people.push(this.#person(session));
    if (calm) {
      void this.#finish();
      return;
    }
    for (const [index, move] of round.moves.entries()) {
      const timer = setTimeout(async () => {
        const person = this.#people[move.session % this.#people.length];
        if (person === undefined || this.#ended) return;
        const done = await this.attempt(() =>
          makeMove(move.do, {
            person,
            core: this.#core,
            second: () => this.#newCore(),
            label: `s${move.session} r${number} m${index}`,
            workspace: this.#order.workspace,
            broken: (invariant, what) => this.broken(invariant, what),
          }),
        );
        if (done === undefined) return;
        say({ word: "did", what: done.what });
        if (done.reopened !== undefined) {
          this.#people[this.#people.indexOf(person)] = this.#person(done.reopened);
        }
      }, move.at);
      this.#timers.push(timer);
    }
  }

  /** Brings every turn to its end. */
  async #finish(): Promise<void> {
    await Promise.all(this.#people.map(({ session }) => this.attempt(() => toRest(session))));
    const states = this.#people.map(({ session }) => session.state);
    say({ word: "over", states });
  }

  async close(): Promise<void> {
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#core.dispose();
  }
}

async function toRest(session: LiveSession): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    if (session.state === "interrupted" || (session.state === "idle" && session.queue.length > 0)) {
      await session.goOn();
    } else if (session.state === "idle") {
      return;
    } else {
      await new Promise<void>((resolve) => {
        const listening = session.onDelta((delta) => {
          if (delta.type !== "state") return;
          listening.dispose();
          resolve();
        });
      });
    }
  }
}

let host: Host | undefined;
process.on("unhandledRejection", (error) => {
  say({ word: "broken", invariant: "no bug", what: `unhandled: ${(error as Error).stack}` });
});
for await (const line of createInterface({ input: process.stdin })) {
  const order = orderSchema.parse(JSON.parse(line));
  if (order.order === "open") {
    host = new Host(order);
    await host.open();
  } else if (order.order === "go") host?.go();
  else {
    await host?.close();
    break;
  }
}
process.exit(0);
