import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCore } from "../../../src/core/core.js";
import { createClient } from "../../../src/core/model/index.js";
import type { Core, LiveSession } from "../../../src/core/turn/live.js";
import { ToolError } from "../../../src/core/workspace/types.js";
import { FAULTS } from "../../soak/faults.js";
import { Random } from "../../soak/random.js";
import { playRecordings, recording, recordingNames } from "../../support/recordings.js";
import { type ScriptedAnswer, startScriptedModel } from "../../support/scriptedModel.js";

const KEY = 'sk-canary-"4b91/7+d=e';
const HEADER = "header-canary-8c27";
const ENVIRONMENT = "sk-canary-of-the-environment";
const FORMS = [
  ...[KEY, encodeURIComponent(KEY), JSON.stringify(KEY).slice(1, -1)],
  ...[Buffer.from(KEY).toString("base64"), HEADER, ENVIRONMENT],
];
const PROVIDERS = ["openai", "anthropic"] as const;

describe("a key, after turns with every client and every fault,", function () {
  this.timeout(120_000);
  let base: string;
  let core: Core;
  let origin: string;
  let provider: (typeof PROVIDERS)[number];
  /** All that a host would show or print. */
  let told: string[];
  let turns: number;

  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), "countersign-keys-")));
    await mkdir(join(base, "ws"));
    told = [];
    turns = 0;
    const { stdout, stderr } = process;
    const write = { stdout: stdout.write, stderr: stderr.write };
    const hear = (chunk: string | Uint8Array): void => void told.push(String(chunk));
    for (const name of ["stdout", "stderr"] as const) {
      process[name].write = (chunk: string | Uint8Array, ...rest: never[]) => {
        hear(chunk);
        return write[name].call(process[name], chunk, ...rest);
      };
    }
    restore = () => {
      stdout.write = write.stdout;
      stderr.write = write.stderr;
    };
    core = createCore({
      home: join(base, "home"),
      userHome: base,
      version: "0.0.0-test",
      host: "test",
      ripgrep: async () => new ToolError("no ripgrep in this test"),
      env: { ...process.env, OPENAI_API_KEY: ENVIRONMENT, ANTHROPIC_API_KEY: ENVIRONMENT },
      settings: () => ({ stopHooks: [{ argv: ["sh", "-c", "env; env >&2"] }], trusted: true }),
      client: async () =>
        createClient({
          provider,
          baseUrl: provider === "openai" ? `${origin}/v1` : origin,
          model: "m",
          key: KEY,
          headers: { "x-extra": HEADER },
          idleMs: 200,
        }),
      unsaved: () => new Set(),
      report: (message) => void told.push(message),
    });
  });
  let restore: () => void = () => {};
  afterEach(async () => {
    restore();
    await core.dispose();
    await rm(base, { recursive: true, force: true });
  });

  /** One turn to its end; a wait for another attempt is cut short. */
  async function turn(): Promise<LiveSession> {
    const session = await core.newSession(join(base, "ws"));
    const over = new Promise<void>((resolve) => {
      session.onEvent((event) => {
        if (event.type === "card_raised") {
          const answer = event.argv?.[0] === "env" ? "allow_once" : "deny";
          void session.answerCard(event.card, answer, { surface: "test" });
        }
        if (event.type === "turn_ended") resolve();
      });
    });
    session.onDelta((delta) => {
      told.push(JSON.stringify(delta));
      if (delta.type === "retry") void session.cancel();
    });
    await session.ask("go");
    await over;
    turns += 1;
    told.push(JSON.stringify([session.events, session.trouble, session.title]));
    await session.close();
    return session;
  }

  async function assertNowhere(): Promise<void> {
    restore();
    let files = 0;
    for (const entry of await readdir(base, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      files += 1;
      told.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
    }
    assert.ok(files >= turns * 2, `${files} files of ${turns} turns`);
    for (const text of told) {
      for (const form of FORMS) assert.ok(!text.includes(form), `${form} in ${text}`);
    }
  }

  it("is in no file, event, delta, report or output (recordings)", async () => {
    let answer: Buffer = Buffer.alloc(0);
    let asked = 0;
    const player = await playRecordings(() => ({ pieces: [asked++ === 0 ? answer : last] }));
    const last = Buffer.from("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n{}");
    origin = player.origin;
    try {
      for (const name of recordingNames()) {
        provider = name.startsWith("openai/") ? "openai" : "anthropic";
        answer = recording(name, { KEY: JSON.stringify(KEY).slice(1, -1), DATE: "x" });
        asked = 0;
        await turn();
      }
    } finally {
      await player.close();
    }
    assert.equal(turns, recordingNames().length);
    await assertNowhere();
  });

  it("is in no file, event, delta, report or output (faults, and servers that tell all they hear)", async () => {
    let next: (headers: object) => ScriptedAnswer = () => ({ text: "ok" });
    let asked = 0;
    const model = await startScriptedModel(({ headers }) => {
      asked += 1;
      return asked === 1 ? next(headers) : { text: "That is all." };
    });
    origin = model.origin;
    try {
      for (provider of PROVIDERS) {
        const call = () => ({ tool: "run", args: { argv: ["env"] } });
        const random = new Random("keys");
        const answers: ((headers: object) => ScriptedAnswer)[] = [
          () => ({ calls: [call()] }),
          ...Object.values(FAULTS).map((fault) => () => {
            return fault({ random, anthropic: provider === "anthropic", call });
          }),
          ...[400, 401, 403, 404, 408, 413, 429, 500, 503, 529].map(
            (status) => (headers: object) => ({
              status,
              body: JSON.stringify({ error: { message: JSON.stringify(headers), code: KEY } }),
            }),
          ),
          (headers) => ({ raw: [JSON.stringify({ error: { message: JSON.stringify(headers) } })] }),
          (headers) => ({
            raw: [
              `event: error\ndata: ${JSON.stringify({ error: { message: JSON.stringify(headers) } })}\n\n`,
            ],
          }),
        ];
        for (const answer of answers) {
          next = answer;
          asked = 0;
          await turn();
        }
      }
    } finally {
      await model.close();
    }
    assert.ok(turns > 70);
    await assertNowhere();
  });
});
