import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { readAllows } from "../../src/acp/allows.js";
import { commandOf } from "../../src/acp/commands.js";
import { readEnvironment } from "../../src/acp/environment.js";
import { Models } from "../../src/acp/models.js";
import { Outbox } from "../../src/acp/outbox.js";
import { onPath } from "../../src/acp/ripgrep.js";
import { SettingsFile } from "../../src/acp/settings.js";
import { commandLine, fenced, oneLine } from "../../src/acp/show.js";
import { said } from "../../src/acp/updates.js";
import { createClient, type ModelConfig } from "../../src/core/model/index.js";

/** What a user who says nothing of limits has. */
const NO_LIMITS = { maxTokens: undefined, contextTokens: undefined, idleMs: 120_000 };

describe("what the environment sets up", () => {
  const read = (env: NodeJS.ProcessEnv) => readEnvironment({ COUNTERSIGN_HOME: "/h", ...env });

  it("takes an OpenAI-compatible server, with and without a key", () => {
    assert.deepEqual(read({ OPENAI_MODEL: "m", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }), {
      home: "/h",
      models: [{ provider: "openai", baseUrl: "http://127.0.0.1:1/v1", model: "m" }],
      fault: undefined,
      allowsFile: undefined,
    });
    assert.deepEqual(read({ OPENAI_MODEL: "m", OPENAI_API_KEY: "k" }).models, [
      { provider: "openai", baseUrl: "https://api.openai.com/v1", model: "m", key: "k" },
    ]);
  });

  it("takes both providers, OpenAI first, and the one that COUNTERSIGN_MODEL names before it", () => {
    const both = { OPENAI_MODEL: "o", ANTHROPIC_MODEL: "a", ANTHROPIC_API_KEY: "k" };
    const names = (env: NodeJS.ProcessEnv) => read(env).models.map((one) => one.provider);
    assert.deepEqual(names(both), ["openai", "anthropic"]);
    assert.deepEqual(names({ ...both, COUNTERSIGN_MODEL: "anthropic:a" }), ["anthropic", "openai"]);
    assert.deepEqual(names({ ...both, COUNTERSIGN_MODEL: "anthropic" }), ["anthropic", "openai"]);
    assert.deepEqual(names({ ...both, COUNTERSIGN_MODEL: "demo" }), [
      "demo",
      "openai",
      "anthropic",
    ]);
  });

  it("says what is missing", () => {
    assert.match(read({}).fault ?? "", /OPENAI_MODEL.*ANTHROPIC_MODEL.*COUNTERSIGN_MODEL=demo/);
    assert.match(read({ OPENAI_API_KEY: "k" }).fault ?? "", /^set OPENAI_MODEL/);
    assert.match(read({ ANTHROPIC_API_KEY: "k" }).fault ?? "", /^set ANTHROPIC_MODEL/);
    const unknown = read({ OPENAI_MODEL: "o", COUNTERSIGN_MODEL: "claude" });
    assert.deepEqual(unknown.models, []);
    assert.equal(unknown.fault, 'COUNTERSIGN_MODEL is "claude", which is none of: demo, openai:o');
  });
});

describe("a file of allows", () => {
  let dir: string;
  let root: string;
  beforeEach(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), "countersign-allows-")));
    root = join(dir, "workspace");
    await mkdir(root);
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("gives its lines, relative paths under the workspace", async () => {
    const file = join(dir, "allows.json");
    await writeFile(
      file,
      JSON.stringify([{ run: ["npm", "test"] }, { write: "src/a.ts" }, { read: "/etc/hosts" }]),
    );
    assert.deepEqual(readAllows(file, root), [
      { run: ["npm", "test"] },
      { write: join(root, "src/a.ts") },
      { read: "/etc/hosts" },
    ]);
  });

  it("is refused inside the workspace, through a link too", async () => {
    const inside = join(root, "allows.json");
    await writeFile(inside, "[]");
    assert.throws(() => readAllows(inside, root), /is inside the workspace/);
    const link = join(dir, "link.json");
    await symlink(inside, link);
    assert.throws(() => readAllows(link, root), /is inside the workspace/);
    const rootLink = join(dir, "root-link");
    await symlink(root, rootLink);
    assert.throws(() => readAllows(join(rootLink, "allows.json"), root), /is inside the workspace/);
  });

  it("is refused where it names a link outside the workspace, and follows none inside", async () => {
    const file = join(dir, "allows.json");
    const target = join(dir, "target");
    await writeFile(target, "");
    await symlink(target, join(dir, "link"));
    await symlink(dir, join(root, "out"));
    for (const allow of [
      { read: join(dir, "link") },
      { write: join(dir, "link") },
      { write: "../link" },
    ]) {
      await writeFile(file, JSON.stringify([allow]));
      assert.throws(() => readAllows(file, root), {
        message: `COUNTERSIGN_ALLOWS: ${Object.values(allow)[0]} leads to ${target}: name that`,
      });
    }
    const rootLink = join(dir, "root-link");
    await symlink(root, rootLink);
    await writeFile(file, JSON.stringify([{ write: join(rootLink, "new", "a.txt") }]));
    assert.throws(() => readAllows(file, root), /leads to .*workspace\/new\/a\.txt: name that/);
    await writeFile(
      file,
      JSON.stringify([
        { read: target },
        { write: join(dir, "none", "b") },
        { write: "out/target" },
      ]),
    );
    // What a repository's own link leads to is not what the user has named.
    assert.deepEqual(readAllows(file, root), [
      { read: target },
      { write: join(dir, "none", "b") },
      { write: join(root, "out/target") },
    ]);
  });

  it("is refused where it is missing, no JSON, or says more than an exact thing", async () => {
    const file = join(dir, "allows.json");
    assert.throws(() => readAllows(file, root), /ENOENT/);
    for (const text of [
      "no json",
      "{}",
      '[{"run": "npm test"}]',
      '[{"run": ["npm"], "write": "a"}]',
      '[{"delete": "a"}]',
      '["npm test"]',
    ]) {
      await writeFile(file, text);
      assert.throws(() => readAllows(file, root), /COUNTERSIGN_ALLOWS/, text);
    }
  });
});

describe("settings.json", () => {
  let home: string;
  let reports: string[];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "countersign-settings-"));
    reports = [];
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const file = (): SettingsFile => new SettingsFile(home, (message) => reports.push(message));
  const write = (value: unknown): Promise<void> =>
    writeFile(join(home, "settings.json"), JSON.stringify(value));

  it("is not needed", () => {
    assert.deepEqual(file().get(), {
      stopHooks: [],
      ripgrep: undefined,
      headers: {},
      limits: NO_LIMITS,
    });
  });

  it("is read anew when it has changed, and leaves alone what it does not know", async () => {
    const settings = file();
    await write({ "countersign.ripgrep.path": "/usr/bin/rg", "editor.fontSize": 12 });
    assert.deepEqual(settings.get(), {
      stopHooks: [],
      ripgrep: "/usr/bin/rg",
      headers: {},
      limits: NO_LIMITS,
    });
    await write({
      "countersign.hooks.stop": [{ argv: ["true"] }, { argv: ["x", "y"], timeout: 5 }],
    });
    assert.deepEqual(settings.get(), {
      stopHooks: [{ argv: ["true"] }, { argv: ["x", "y"], timeout: 5 }],
      ripgrep: undefined,
      headers: {},
      limits: NO_LIMITS,
    });
  });

  for (const [name, value, limits] of [
    ["maxTokens", 0, { maxTokens: undefined }],
    ["maxTokens", 1, { maxTokens: 1 }],
    ["contextTokens", 0, { contextTokens: undefined }],
    ["contextTokens", 1, { contextTokens: 1 }],
    ["idleTimeout", 0, { idleMs: 120_000 }],
    ["idleTimeout", 1, { idleMs: 10_000 }],
    ["idleTimeout", 9, { idleMs: 10_000 }],
    ["idleTimeout", 10, { idleMs: 10_000 }],
    ["idleTimeout", 11, { idleMs: 11_000 }],
    ["idleTimeout", 299, { idleMs: 299_000 }],
    ["idleTimeout", 300, { idleMs: 300_000 }],
    ["idleTimeout", 301, { idleMs: 300_000 }],
  ] as const) {
    it(`with ${name} ${value} limits the models as VS Code's settings would`, async () => {
      await write({ [`countersign.models.${name}`]: value });
      assert.deepEqual(file().get().limits, { ...NO_LIMITS, ...limits });
    });
  }

  it("gives the same limits until it changes, so that a client is made anew only then", async () => {
    const made: ModelConfig[] = [];
    const settings = file();
    const models = new Models({
      environment: readEnvironment({
        COUNTERSIGN_HOME: home,
        OPENAI_MODEL: "m",
        OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
      }),
      make: (setup) => {
        made.push(setup);
        return createClient(setup);
      },
      settings: () => settings.get(),
    });
    const first = models.client("s");
    assert.equal(models.client("s"), first);
    await write({
      "countersign.models.openai.headers": { "X-Team": "tools" },
      "countersign.models.maxTokens": 7,
      "countersign.models.contextTokens": 9000,
      "countersign.models.idleTimeout": 20,
    });
    const second = models.client("s");
    assert.notEqual(second, first);
    assert.equal(models.client("s"), second);
    assert.equal(models.contextTokens("s"), 9000);
    const setup = { provider: "openai", baseUrl: "http://127.0.0.1:1/v1", model: "m" };
    assert.deepEqual(made, [
      { ...setup, headers: {}, ...NO_LIMITS },
      {
        ...setup,
        headers: { "X-Team": "tools" },
        maxTokens: 7,
        contextTokens: 9000,
        idleMs: 20_000,
      },
    ]);
  });

  it("leaves a window that the server told of as it is where it says nothing, and the demo always", () => {
    const made: ModelConfig[] = [];
    const baseUrl = "http://127.0.0.1:1/v1";
    const models = new Models({
      environment: {
        home,
        models: [
          { provider: "openai", baseUrl, model: "named" },
          { provider: "openai", baseUrl, model: "found", contextTokens: 4096, headers: {} },
          { provider: "anthropic", baseUrl, model: "other", key: "k" },
          { provider: "demo" },
        ],
        fault: undefined,
        allowsFile: undefined,
      },
      make: (setup) => {
        made.push(setup);
        return createClient(setup);
      },
      settings: () => settings,
    });
    const settings = { headers: { "X-Team": "tools" }, limits: NO_LIMITS };
    for (const id of ["openai:named", "openai:found", "anthropic:other", "demo"]) {
      models.choose("s", id);
      models.client("s");
    }
    const server = { provider: "openai", baseUrl, ...NO_LIMITS } as const;
    assert.deepEqual(made, [
      { ...server, model: "named", headers: { "X-Team": "tools" } },
      // One that was found, or another maker's, is not the server that the headers are for.
      { ...server, model: "found", headers: {}, contextTokens: 4096 },
      { ...server, provider: "anthropic", model: "other", key: "k" },
      { provider: "demo" },
    ]);
  });

  it("stays in force where it becomes wrong while the agent runs", async () => {
    const settings = file();
    await write({ "countersign.hooks.stop": [{ argv: ["true"] }] });
    settings.get();
    await writeFile(join(home, "settings.json"), "{");
    assert.deepEqual(settings.get().stopHooks, [{ argv: ["true"] }]);
    settings.get();
    assert.equal(reports.length, 1);
  });

  it("is refused inside the workspace, where it would be the repository's", async () => {
    file().check(home);
    await write({});
    assert.throws(() => file().check(home), /is inside the workspace/);
    file().check(await realpath(tmpdir()).then((dir) => join(dir, "another")));
  });

  for (const [name, value] of [
    ["a hook without argv", { "countersign.hooks.stop": [{ timeout: 1 }] }],
    ["an empty argv", { "countersign.hooks.stop": [{ argv: [] }] }],
    ["a timeout under a second", { "countersign.hooks.stop": [{ argv: ["a"], timeout: 0.5 }] }],
    ["another field", { "countersign.hooks.stop": [{ argv: ["a"], shell: true }] }],
    ["a path that is no text", { "countersign.ripgrep.path": 1 }],
    ["a header that is no text", { "countersign.models.openai.headers": { "X-A": 1 } }],
    ["a limit that is no number", { "countersign.models.maxTokens": "100" }],
    ["a limit under zero", { "countersign.models.contextTokens": -1 }],
    ["a limit that is no whole number", { "countersign.models.idleTimeout": 12.5 }],
  ] as const) {
    it(`is refused at the start with ${name}`, async () => {
      await write(value);
      const settings = file();
      assert.throws(() => settings.get(), /settings\.json/);
      assert.throws(() => settings.get(), /settings\.json/);
    });
  }
});

describe("what a client is shown", () => {
  it("tells each argument of a command from the next", () => {
    assert.equal(commandLine(["git", "commit", "-m", "a b"]), "git commit -m 'a b'");
    assert.equal(commandLine(["echo", "it's", "", "$HOME"]), "echo 'it'\\''s' '' '$HOME'");
    assert.equal(commandLine(["a\nb", "c\u202ed"]), "'a⟦LF⟧b' 'c⟦U+202E⟧d'");
  });

  it("cannot be left by a fence in what it holds", () => {
    assert.equal(fenced("a"), "```\na\n```");
    assert.equal(fenced("```\n![x](http://x)\n````\n"), "`````\n```\n![x](http://x)\n````\n`````");
    assert.ok(fenced("` ".repeat(300_000)).startsWith("```\n"));
  });

  it("is cut at its limit in a title, and not before", () => {
    assert.equal(oneLine("x".repeat(10), 10), "x".repeat(10));
    assert.equal(oneLine("x".repeat(11), 10), `${"x".repeat(9)}…`);
  });
});

describe("slash commands", () => {
  it("are what they are and nothing near it", () => {
    assert.deepEqual(commandOf(" /go-on\n"), { name: "go-on" });
    assert.deepEqual(commandOf("/allows"), { name: "allows" });
    assert.deepEqual(commandOf("/verify"), { name: "verify" });
    assert.deepEqual(commandOf("/queue"), { name: "queue" });
    assert.deepEqual(commandOf("/undo"), { name: "undo" });
    assert.deepEqual(commandOf("/redo"), { name: "redo" });
    assert.deepEqual(commandOf("/revoke 2"), { name: "revoke", number: 2 });
    assert.deepEqual(commandOf("/withdraw 1"), { name: "withdraw", number: 1 });
    for (const text of [
      "go-on",
      "/go-on now",
      "/revoke",
      "/revoke x",
      "/withdraw",
      "/withdraw 1 2",
      "/queue 1",
      "/undo it",
      "/etc/hosts",
      "see /allows",
    ]) {
      assert.equal(commandOf(text), undefined, text);
    }
  });
});

describe("the outbox", () => {
  const text = (words: string, id = "m"): SessionUpdate => said("agent_message_chunk", words, id);
  const status = (toolCallId: string, state: "in_progress" | "completed"): SessionUpdate => ({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: state,
  });

  /** A reader that takes one update at each `take`. */
  function slow(): { outbox: Outbox; sent: SessionUpdate[]; take: () => void } {
    const sent: SessionUpdate[] = [];
    const readers: (() => void)[] = [];
    const outbox = new Outbox((update) => {
      sent.push(update);
      return new Promise((resolve) => readers.push(resolve));
    });
    return { outbox, sent, take: () => readers.shift()?.() };
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("keeps the order, and what runs after comes after", async () => {
    const seen: string[] = [];
    const outbox = new Outbox(async (update) => {
      seen.push(update.sessionUpdate);
    });
    outbox.push(text("a"));
    outbox.push(status("c", "in_progress"));
    outbox.after(() => seen.push("after"));
    outbox.push(status("c", "completed"));
    await outbox.flushed();
    assert.deepEqual(seen, [
      "agent_message_chunk",
      "tool_call_update",
      "after",
      "tool_call_update",
    ]);
  });

  it("joins the pieces of a message while the reader is slow, and not of two messages", async () => {
    const { outbox, sent, take } = slow();
    for (const piece of ["a", "b", "c"]) outbox.push(text(piece));
    outbox.push(text("d", "n"));
    for (let n = 0; n < 5; n++) {
      await settle();
      take();
    }
    await outbox.flushed();
    assert.deepEqual(sent, [text("abc"), text("d", "n")]);
  });

  it("sends the last state of an output and drops it when asked", async () => {
    const { outbox, sent, take } = slow();
    outbox.push(text("first"));
    await settle();
    for (let n = 0; n < 1000; n++) outbox.push(status(`${n}`, "in_progress"), "output:c");
    take();
    await settle();
    assert.deepEqual(sent, [text("first"), status("999", "in_progress")]);
    outbox.push(status("x", "in_progress"), "output:c");
    outbox.drop("output:c");
    take();
    await outbox.flushed();
    assert.equal(sent.length, 2);
  });

  it("merges what it knows of a call once 64 updates wait, never past a request", async () => {
    const { outbox, sent, take } = slow();
    outbox.push(text("first"));
    await settle();
    for (let n = 0; n < 63; n++) outbox.push(status(`c${n}`, "in_progress"));
    outbox.push(status("c0", "completed"));
    outbox.push(status("c1", "completed"));
    outbox.after(() => {});
    outbox.push(status("c2", "completed"));
    for (let n = 0; n < 70; n++) {
      take();
      await settle();
    }
    const of = (id: string): unknown[] =>
      sent.flatMap((one) =>
        one.sessionUpdate === "tool_call_update" && one.toolCallId === id ? [one.status] : [],
      );
    // The 64th waited beside the first 63; the 65th was merged; the last came after a request.
    assert.deepEqual(
      [of("c0"), of("c1"), of("c2")],
      [["in_progress", "completed"], ["completed"], ["in_progress", "completed"]],
    );
  });

  it("lets go of whoever waits when the client is gone", async () => {
    const outbox = new Outbox(() => Promise.reject(new Error("gone")));
    outbox.push(text("a"));
    await outbox.flushed();
    outbox.push(text("b"));
    await outbox.flushed();
  });
});

describe("a program on the PATH", () => {
  const own = process.platform === "win32" ? "rg.exe" : "rg";
  let directory: string;
  before(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), "countersign-path-")));
    await writeFile(join(directory, own), "", { mode: 0o755 });
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it("is taken from an absolute entry", async () => {
    const PATH = ["", directory].join(delimiter);
    assert.equal(await onPath(own, { PATH }), join(directory, own));
  });

  it("is never taken from a relative one, which may be the folder that was opened", async () => {
    const here = relative(process.cwd(), directory);
    assert.equal(await onPath(own, { PATH: [here, ".", ""].join(delimiter) }), undefined);
  });
});
