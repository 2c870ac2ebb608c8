import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Fault } from "./logs.js";
import { type Order, type Word, wordSchema } from "./words.js";

/** The process that is killed. */
export class Child {
  readonly broken: Fault[] = [];
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #words: Word[] = [];
  readonly #waiting = new Set<() => void>();
  #errors = "";
  #killed = false;
  #over = false;

  constructor(
    program: string,
    tag: string,
    fileLimit: number | undefined,
    count: (what: string) => void,
  ) {
    const [name = "", value = ""] = tag.split("=");
    const env = { ...process.env, [name]: value };
    // In blocks of 512 bytes; without the trap the limit would end the process instead of the write.
    const limit = fileLimit === undefined ? "" : `ulimit -f ${Math.ceil(fileLimit / 512)};`;
    const script = `trap '' XFSZ; ${limit} exec "$0" --enable-source-maps "$1"`;
    this.#process = spawn("sh", ["-c", script, process.execPath, program], { env });
    this.#process.stdin?.on("error", () => {});
    this.#process.stderr?.on("data", (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk}`.slice(-4_000);
    });
    if (this.#process.stdout !== null) {
      createInterface({ input: this.#process.stdout }).on("line", (line) => {
        const word = wordSchema.safeParse(parse(line));
        if (!word.success) return;
        if (word.data.word === "did") count(word.data.what);
        else if (word.data.word === "broken") this.broken.push(word.data);
        else this.#words.push(word.data);
        this.#wake();
      });
    }
    this.gone = new Promise((resolve) => {
      this.#process.once("close", (code, signal) => {
        this.#over = true;
        if (!this.#killed && code !== 0) {
          const what = `the host ended with ${code ?? signal}: ${this.#errors}`;
          this.broken.push({ invariant: "no bug", what });
        }
        this.#wake();
        resolve();
      });
    });
  }

  send(order: Order): void {
    this.#process.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The next word of this kind, or undefined where none comes in `ms` milliseconds. */
  async next<W extends Word["word"]>(
    kind: W,
    ms: number,
  ): Promise<Extract<Word, { word: W }> | undefined> {
    const find = () => this.#words.find((word) => word.word === kind);
    const settled = (): boolean => find() !== undefined || this.#over || this.broken.length > 0;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake();
    }, ms);
    while (!settled() && !late) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    clearTimeout(timer);
    return find() as Extract<Word, { word: W }> | undefined;
  }

  /** Why something that was to happen did not. */
  faults(what: string): Fault[] {
    return [
      ...this.broken,
      { invariant: "nothing is stuck", what: `not so: ${what}. ${this.#errors}` },
    ];
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** False where it is gone already. */
  killNow(): boolean {
    if (this.#over || this.#killed) return false;
    this.#killed = true;
    return this.#process.kill("SIGKILL");
  }

  async kill(): Promise<void> {
    this.killNow();
    await this.gone;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
