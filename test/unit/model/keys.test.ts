import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { createCore } from "../../../src/core/core.js";
import { ChatError } from "../../../src/core/model/chatClient.js";
import type { ModelConfig } from "../../../src/core/model/config.js";
import { scrub } from "../../../src/core/model/errors.js";
import { createClient } from "../../../src/core/model/index.js";
import { listModels } from "../../../src/core/model/list.js";
import { ToolError } from "../../../src/core/workspace/types.js";
import { playRecordings, recording, recordingNames } from "../../support/recordings.js";
import { startScriptedModel } from "../../support/scriptedModel.js";
import { ask } from "./ask.js";

const KEY = 'sk-canary-"7f3a/9+b=c';
const HEADER = "header-canary-51d0";
const forms = [KEY, encodeURIComponent(KEY), JSON.stringify(KEY).slice(1, -1), HEADER];
const providers = ["openai", "anthropic"] as const;

function assertClean(value: unknown): void {
  const seen = [
    inspect(value, {
      depth: 12,
      showHidden: true,
      getters: true,
      maxStringLength: null,
      maxArrayLength: null,
    }),
    value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : "",
  ].join("\n");
  for (const form of forms) assert.ok(!seen.includes(form), `${form} in ${seen}`);
}

/** What `work` writes to either stream, with the variables set that make client libraries log. */
async function writtenBy(work: () => Promise<void>): Promise<string> {
  const written: string[] = [];
  const { stdout, stderr } = process;
  const kept = [stdout.write, stderr.write] as const;
  const env = { ...process.env };
  process.env.OPENAI_LOG = "debug";
  process.env.ANTHROPIC_LOG = "debug";
  stdout.write = (chunk: string | Uint8Array) => written.push(String(chunk)) > 0;
  stderr.write = (chunk: string | Uint8Array) => written.push(String(chunk)) > 0;
  try {
    await work();
  } finally {
    [stdout.write, stderr.write] = kept;
    process.env = env;
  }
  return written.join("");
}

function configOf(provider: "openai" | "anthropic", origin: string): ModelConfig {
  return {
    provider,
    baseUrl: provider === "openai" ? `${origin}/v1` : origin,
    model: "m",
    key: KEY,
    headers: { "x-extra": HEADER },
    idleMs: 300,
  };
}

describe("a key", () => {
  it("is in nothing that is thrown or written, whatever a server answers", async function () {
    this.timeout(60_000);
    const caught: unknown[] = [];
    const written = await writtenBy(async () => {
      for (const name of recordingNames()) {
        const bytes = recording(name, { KEY: JSON.stringify(KEY).slice(1, -1), DATE: "x" });
        const player = await playRecordings(() => ({ pieces: [bytes] }));
        const provider = name.startsWith("openai/") ? "openai" : "anthropic";
        // A model that client libraries have something to say about.
        const config = { ...configOf(provider, player.origin), model: "claude-3-opus-20240229" };
        caught.push((await ask(createClient(config))).error);
        await player.close();
      }
    });
    assert.ok(caught.filter((error) => error instanceof ChatError).length > 40);
    for (const error of caught) assertClean(error);
    assert.equal(written, "");
  });

  it("is in no error of a server that tells everything it was sent", async () => {
    const server = createServer((request, response) => {
      const told = JSON.stringify({ url: request.url, headers: request.headers });
      response.writeHead(400, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message: `${told} ${encodeURIComponent(KEY)}`, code: KEY } }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      for (const provider of providers) {
        const config = configOf(provider, origin);
        const { error } = await ask(createClient(config));
        assert.ok(error instanceof ChatError);
        assert.match(error.message, /x-extra/);
        assertClean(error);
        const listed = await listModels(
          config as Exclude<ModelConfig, { provider: "demo" }>,
          new AbortController().signal,
        ).catch((fault: unknown) => fault);
        assert.ok(listed instanceof ChatError);
        assertClean(listed);
      }
    } finally {
      server.close();
    }
  });

  it("is in no error of a connection that cannot be made, breaks, or falls silent", async () => {
    const player = await playRecordings(() => ({ pieces: [], end: "open" }));
    for (const provider of providers) {
      const silent = await ask(createClient(configOf(provider, player.origin)));
      assert.ok(silent.error instanceof ChatError);
      assertClean(silent.error);
    }
    await player.close();
    // Never spoken to, so that no connection of before is left to break.
    const gone = await playRecordings(() => ({ pieces: [] }));
    await gone.close();
    for (const provider of providers) {
      const { error } = await ask(createClient(configOf(provider, gone.origin)));
      assert.ok(error instanceof ChatError);
      assert.match(error.message, /Nothing answers at http:\/\/127\.0\.0\.1:\d+/);
      // A server of this machine that does not run is told at once.
      assert.deepEqual([error.kind, error.retry], ["connection", false]);
      assertClean(error);
    }
  });

  it("goes to the server it was given for, in the header of its protocol", async () => {
    const model = await startScriptedModel([{ text: "a" }, { text: "b" }]);
    try {
      for (const provider of providers) await ask(createClient(configOf(provider, model.origin)));
      const sent = model.requests.map(({ headers, raw }) => [
        headers.authorization,
        headers["x-api-key"],
        headers["x-extra"],
        raw.includes(KEY),
      ]);
      assert.deepEqual(sent, [
        [`Bearer ${KEY}`, undefined, HEADER, false],
        [undefined, KEY, HEADER, false],
      ]);
    } finally {
      await model.close();
    }
  });

  it("does not follow a redirect to another server", async () => {
    const thief = await startScriptedModel([{ text: "stolen" }]);
    const model = await startScriptedModel(() => ({
      status: 307,
      headers: { location: `${thief.origin}/v1/chat/completions?k=${encodeURIComponent(KEY)}` },
    }));
    try {
      for (const provider of providers) {
        const { error } = await ask(createClient(configOf(provider, model.origin)));
        assert.ok(error instanceof ChatError);
        assert.match(error.message, /redirects to/);
        assertClean(error);
      }
      assert.equal(thief.requests.length, 0);
    } finally {
      await model.close();
      await thief.close();
    }
  });

  it("of the environment is never sent, nor anything else that client libraries find there", async () => {
    const model = await startScriptedModel(() => ({ text: "ok" }));
    const env = { ...process.env };
    try {
      for (const [name, value] of Object.entries({
        OPENAI_API_KEY: "env-canary-1",
        OPENAI_ORG_ID: "env-canary-2",
        OPENAI_PROJECT_ID: "env-canary-3",
        OPENAI_CUSTOM_HEADERS: "x-env: env-canary-4",
        OPENAI_BASE_URL: "http://env-canary-5.invalid",
        ANTHROPIC_API_KEY: "env-canary-6",
        ANTHROPIC_AUTH_TOKEN: "env-canary-7",
        ANTHROPIC_CUSTOM_HEADERS: "x-env: env-canary-8",
        ANTHROPIC_BASE_URL: "http://env-canary-9.invalid",
      })) {
        process.env[name] = value;
      }
      for (const provider of providers) {
        const baseUrl = provider === "openai" ? model.url : model.origin;
        const { error } = await ask(createClient({ provider, baseUrl, model: "m" }));
        assert.equal(error, undefined);
      }
    } finally {
      process.env = env;
      await model.close();
    }
    assert.equal(model.requests.length, 2);
    for (const { headers, raw } of model.requests) {
      const sent = JSON.stringify([headers, raw]);
      assert.ok(!sent.includes("env-canary"), sent);
      assert.ok(!("authorization" in headers) && !("x-api-key" in headers));
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith("x-")),
        [],
      );
    }
  });

  it("is in no file of a session whose server tells it back, in no event and in no report", async () => {
    const base = await mkdtemp(join(tmpdir(), "countersign-keys-"));
    const model = await startScriptedModel(({ headers }, n) =>
      n === 0
        ? { text: "I look.", calls: [{ tool: "list_dir", args: {} }] }
        : { status: 401, body: JSON.stringify({ error: { message: JSON.stringify(headers) } }) },
    );
    const reports: string[] = [];
    await mkdir(join(base, "ws"));
    const core = createCore({
      home: join(base, "home"),
      userHome: base,
      version: "0.0.0-test",
      host: "test",
      ripgrep: async () => new ToolError("no ripgrep in this test"),
      env: process.env,
      settings: () => ({ stopHooks: [], trusted: true }),
      client: async () => createClient(configOf("openai", model.origin)),
      unsaved: () => new Set(),
      report: (message) => void reports.push(message),
    });
    try {
      const session = await core.newSession(join(base, "ws"));
      const ended = new Promise<void>((resolve) => {
        session.onEvent(({ type }) => type === "turn_ended" && resolve());
      });
      await session.ask("look");
      await ended;
      const last = session.events.at(-1);
      assert.ok(last?.type === "turn_ended");
      assert.match(last.message ?? "", /did not accept the key.*x-extra/);
      await core.dispose();
      assertClean([session.events, reports]);
      let files = 0;
      for (const entry of await readdir(base, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        files += 1;
        assertClean(await readFile(join(entry.parentPath, entry.name), "utf8"));
      }
      assert.ok(files >= 2);
    } finally {
      await core.dispose();
      await model.close();
      await rm(base, { recursive: true, force: true });
    }
  });

  it("with a line break, and a base URL with a password, are refused before anything is sent", () => {
    const make = (more: object) => () =>
      createClient({ provider: "openai", baseUrl: "https://h.invalid/v1", model: "m", ...more });
    const faults: [object, RegExp][] = [
      [{ key: "sk-a\nb" }, /The key holds characters that no key has/],
      [{ baseUrl: "https://user:secret-word@h.invalid" }, /holds a name or password/],
      [{ baseUrl: "h.invalid/v1" }, /is not a URL|must begin with/],
      [{ baseUrl: "file:///etc/passwd" }, /must begin with https/],
      [{ headers: { "a b": "c" } }, /“a b” is no valid HTTP header/],
      [{ headers: { a: "secret-word\r\nx: y" } }, /“a” is no valid HTTP header/],
    ];
    for (const [more, says] of faults) {
      assert.throws(make(more), (error) => {
        assert.ok(error instanceof ChatError);
        assert.match(error.message, says);
        assert.ok(!error.message.includes("secret-word"));
        return true;
      });
    }
    assert.doesNotThrow(make({ key: "  sk-ant-key  " }));
  });

  it("is taken out of a text in every form, the longest first, and control characters with it", () => {
    assert.equal(scrub("a sk-long-key b sk-long", ["sk-long", "sk-long-key"]), "a … b …");
    assert.equal(scrub("a%22b \u001b[31m\n", ['a"b']), "…  [31m");
    assert.equal(scrub("nothing", [""]), "nothing");
  });
});
