import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { AGENT, type World } from "./agent.js";

type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly update?: { readonly sessionUpdate?: string };
  };
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: { readonly code: number; readonly message: string };
};

/** The bare pipe, for what no well-behaved client would send. */
export class Wire {
  readonly messages: Message[] = [];
  readonly faults: string[] = [];
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<number | null>;
  stderr = "";
  #rest = "";
  #next = 1;
  readonly #waiting = new Set<() => void>();

  constructor(world: World, env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [AGENT], {
      cwd: world.dir,
      env: { ...world.env, ...env },
      stdio: "pipe",
    });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.child.stdin.on("error", () => {});
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.exited = new Promise((resolve) => this.child.once("exit", (code) => resolve(code)));
    void this.exited.then(() => this.#wake());
  }

  raw(text: string | Uint8Array): void {
    this.child.stdin.write(text);
  }

  /** Sends a request and waits for what comes back under its id. */
  request(method: string, params?: unknown, id: unknown = this.#next++): Promise<Message> {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return this.find((one) => one.method === undefined && one.id === id);
  }

  notify(method: string, params: unknown): void {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  respond(id: unknown, body: object): void {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  }

  async open(cwd: string): Promise<string> {
    await this.request("initialize", { protocolVersion: 1 });
    const opened = await this.request("session/new", { cwd, mcpServers: [] });
    return opened.result?.sessionId ?? "";
  }

  prompt(sessionId: string, text: string): Promise<Message> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  permission(n = 0): Promise<Message> {
    return this.find((one) => one.method === "session/request_permission", n);
  }

  /** The n-th message that fits, as soon as it is there. */
  find(fits: (message: Message) => boolean, n = 0): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.messages.filter(fits)[n];
        if (found !== undefined) {
          this.#waiting.delete(look);
          resolve(found);
        } else if (this.child.exitCode !== null || this.child.signalCode !== null) {
          this.#waiting.delete(look);
          reject(new Error(`the agent ended (${this.child.exitCode})\n${this.stderr}`));
        }
      };
      this.#waiting.add(look);
      look();
    });
  }

  async end(): Promise<number | null> {
    this.child.stdin.end();
    return this.exited;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      try {
        this.messages.push(JSON.parse(line) as Message);
      } catch {
        this.faults.push(line);
      }
    }
    this.#wake();
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}
