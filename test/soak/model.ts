import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { bodyStart, recording, recordingNames } from "../support/recordings.js";
import {
  type RecordedRequest,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedModel,
  startScriptedModel,
} from "../support/scriptedModel.js";
import { FAULTS } from "./faults.js";
import { FILES, marked, marksIn } from "./files.js";
import { OURS } from "./person.js";
import { Random } from "./random.js";
import { wrongOnTheWire } from "./wire.js";

const RECORDINGS = recordingNames();

/** A model that works on the files at random, and misbehaves as servers do. */
export class SoakModel {
  /** The share of faulty answers. */
  faults = 0;
  calm = false;
  /** What was wrong with a request. */
  readonly wrong: string[] = [];
  readonly #asked = new Map<string, number>();
  #marks = 0;
  #server: ScriptedModel | undefined;

  constructor(
    private readonly seed: number,
    private readonly base: string,
    private readonly count: (what: string) => void,
  ) {}

  async start(): Promise<string> {
    this.#server = await startScriptedModel((request) => this.#answer(request));
    return this.#server.origin;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  #answer(request: RecordedRequest): ScriptedAnswer {
    const wrong = wrongOnTheWire(request.body);
    if (wrong !== undefined) this.wrong.push(`${wrong}\n${request.raw.slice(-4_000)}`);
    const label = request.raw.match(/s\d+ r\d+ m\d+/g)?.at(-1) ?? "none";
    const n = (this.#asked.get(label) ?? 0) + 1;
    this.#asked.set(label, n);
    const random = new Random("model", this.seed, label, n);
    this.count("requests");
    if (!this.calm && random.chance(this.faults)) return this.#fault(request, random);
    // A turn comes to its end after some answers, and a calm one soon.
    if (random.chance(this.calm ? 0.6 : 0.25)) {
      if (random.chance(0.5)) return { text: "That is done." };
      return { calls: [{ tool: "finish", args: { result: "done" } }] };
    }
    const calls = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => this.#call(random));
    return { text: random.pick(["", "I do it."]), reasoning: random.pick(["", "Hm."]), calls };
  }

  #fault(request: RecordedRequest, random: Random): ScriptedAnswer {
    const anthropic = request.path.includes("/messages");
    if (random.chance(0.4)) {
      const own = RECORDINGS.filter((name) => name.startsWith("anthropic/") === anthropic);
      const name = own[random.below(own.length)] ?? "";
      this.count(`fault: recording ${name}`);
      return playOf(name, random);
    }
    const names = Object.keys(FAULTS);
    const name = names[random.below(names.length)] ?? "";
    this.count(`fault: ${name}`);
    return FAULTS[name]?.({ random, anthropic, call: () => this.#call(random) }) ?? {};
  }

  /** A mark that nobody had before. */
  #mark(): string {
    this.#marks += 1;
    return `[m${this.#marks}]`;
  }

  #call(random: Random): ScriptedCall {
    const file = random.pick([...FILES]);
    const outside = join(this.base, "outside");
    switch (random.below(14)) {
      case 0:
        return { tool: "list_dir", args: { path: random.pick(["files", "files/sub", "."]) } };
      case 1:
        return { tool: "grep", args: { pattern: "lines", all: random.chance(0.5) } };
      case 2:
        return { tool: "read_file", args: { path: file } };
      case 3:
        return {
          tool: "read_file",
          args: { path: random.pick([`${outside}/secret.txt`, "../outside/secret.txt"]) },
        };
      case 4: {
        const path = random.pick([
          `${outside}/new.txt`,
          "../outside/secret.txt",
          "files/out/x.txt",
        ]);
        return { tool: "write_file", args: { path, content: marked(this.#mark(), random) } };
      }
      case 5:
        return { tool: "ask", args: { question: "Which?", options: ["one", "two"] } };
      case 6:
        return { tool: "use_skill", args: { name: "none" } };
      case 7:
      case 8:
        return { tool: "run", args: this.#command(random) };
      case 9:
      case 10:
        return {
          tool: "write_file",
          args: { path: file, content: marked(this.#mark(), random) },
        };
      default:
        return { tool: "search_replace", args: { path: file, all: true, ...this.#change(file) } };
    }
  }

  /** A change of the mark that the file has at this moment. */
  #change(file: string): { old: string; new: string } {
    let old = "[none]";
    try {
      const path = join(this.base, "ws", file);
      // A pipe would be waited for.
      if (statSync(path).isFile()) old = marksIn(readFileSync(path, "utf8"))[0] ?? old;
    } catch {
      // It is gone, or something else by now.
    }
    return { old, new: this.#mark() };
  }

  #command(random: Random): { argv: string[]; timeout?: number } {
    // Some come again, so that an allow is made use of.
    const token = random.chance(0.4) ? `T${random.below(3)}` : `T${this.#mark().slice(1, -1)}`;
    const ran = `echo ${token} >> ran`;
    const [script, timeout] = random.pick<readonly [string, number?]>([
      [ran],
      [ran],
      [`${ran} && sleep 0.2`],
      [`${ran}; sleep 60 & echo left`],
      [`${ran}; yes | head -c 300000`],
      [`trap '' TERM; ${ran}; sleep 30`, 1],
      [`${ran}; exit 3`],
    ]);
    const argv = ["sh", "-c", `${script} ${OURS}`];
    return timeout === undefined ? { argv } : { argv, timeout };
  }
}

/** A recorded response, whole or cut anywhere. */
function playOf(name: string, random: Random): ScriptedAnswer {
  const bytes = recording(name, { KEY: "sk-soak-openai", DATE: new Date().toUTCString() });
  const start = bodyStart(bytes);
  const [first = "", ...lines] = bytes
    .subarray(0, start - 4)
    .toString("latin1")
    .split("\r\n");
  const headers = lines
    .map((line) => line.split(/:\s*/, 2))
    .filter(([key = ""]) => !/^(connection|content-length|transfer-encoding)$/i.test(key));
  const body = bytes.subarray(start);
  const cut = random.chance(0.2);
  return {
    status: Number(first.split(" ")[1]),
    headers: Object.fromEntries(headers),
    raw: [cut ? body.subarray(0, random.below(body.length + 1)) : body],
    end: cut ? "destroyed" : "whole",
  };
}
