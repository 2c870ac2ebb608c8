import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { verifySession } from "../../src/core/session/verify.js";
import { makeWorld, type World } from "./support/agent.js";
import { Wire } from "./support/wire.js";

const CARD = { calls: [{ id: "c1", tool: "run", args: { argv: ["touch", "made"] } }] };

describe("clients that misbehave", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("answers lines that are no messages and goes on", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const wire = new Wire(world);
    wire.raw('hello\n{\n\n[1,2]\n42\n"text"\nnull\n{}\n');
    wire.raw(Uint8Array.from([0xff, 0xfe, 0x00, 0x0a]));
    const session = await wire.open(world.workspace);
    assert.deepEqual((await wire.prompt(session, "Hello")).result, { stopReason: "end_turn" });
    const errors = wire.messages.filter((one) => one.error !== undefined);
    assert.ok(errors.length >= 6, JSON.stringify(errors));
    assert.ok(errors.every((one) => [-32700, -32600].includes(one.error?.code ?? 0)));
    assert.equal(await wire.end(), 0);
    assert.deepEqual(wire.faults, []);
  });

  it("refuses requests before initialize", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    const early = await wire.request("session/new", { cwd: world.workspace, mcpServers: [] });
    assert.equal(early.error?.code, -32600);
    assert.ok(!existsSync(join(world.home, "sessions")) || (await world.sessions()).length === 0);
    assert.notEqual(await wire.open(world.workspace), "");
    await wire.end();
  });

  it("names its own version to a client of a newer one", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    const answer = await wire.request("initialize", { protocolVersion: 99 });
    assert.equal((answer.result as { protocolVersion?: number }).protocolVersion, 1);
    await wire.end();
  });

  it("says method not found to methods it does not have", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    await wire.open(world.workspace);
    for (const method of ["session/fork", "fs/read_text_file", "", "constructor", "__proto__"]) {
      assert.equal((await wire.request(method, {})).error?.code, -32601, method);
    }
    wire.notify("session/unknown", {});
    wire.notify("$/unknown", {});
    assert.ok((await wire.request("session/list", {})).result !== undefined);
    await wire.end();
  });

  it("says invalid params to params of another shape", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    const file = join(world.dir, "file");
    await writeFile(file, "");
    const wrong: [string, unknown][] = [
      ["session/new", { cwd: 1, mcpServers: [] }],
      ["session/new", { cwd: "relative/path", mcpServers: [] }],
      ["session/new", { cwd: join(world.dir, "none"), mcpServers: [] }],
      ["session/new", { cwd: file, mcpServers: [] }],
      ["session/new", { cwd: world.workspace, mcpServers: [], additionalDirectories: [world.dir] }],
      ["session/prompt", { sessionId: session, prompt: "text" }],
      ["session/prompt", { sessionId: session, prompt: [] }],
      ["session/prompt", { sessionId: session, prompt: [{ type: "text", text: "  " }] }],
      ["session/set_mode", { sessionId: session, modeId: "yolo" }],
      ["session/set_config_option", { sessionId: session, configId: "none", value: "x" }],
      ["authenticate", { methodId: "none" }],
    ];
    for (const [method, params] of wrong) {
      const answer = await wire.request(method, params);
      assert.equal(answer.error?.code, -32602, `${method} ${JSON.stringify(params)}`);
    }
    await wire.end();
  });

  it("says resource not found to sessions that there are not, and to ids that are paths", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    await wire.open(world.workspace);
    for (const sessionId of ["none", "", "..", "../../etc", "a/b", "\0"]) {
      const prompt = [{ type: "text", text: "Hello" }];
      const cwd = world.workspace;
      const answers = [
        await wire.request("session/prompt", { sessionId, prompt }),
        await wire.request("session/load", { sessionId, cwd, mcpServers: [] }),
        await wire.request("session/resume", { sessionId, cwd }),
        await wire.request("session/close", { sessionId }),
        await wire.request("session/set_mode", { sessionId, modeId: "ask" }),
      ];
      assert.deepEqual(
        answers.map((one) => one.error?.code),
        [-32002, -32002, -32002, -32002, -32002],
        sessionId,
      );
      wire.notify("session/cancel", { sessionId });
    }
    assert.equal((await world.sessions()).length, 1);
    await wire.end();
  });

  const nonsense: [string, object][] = [
    [
      "an option that there is not",
      { result: { outcome: { outcome: "selected", optionId: "yes" } } },
    ],
    [
      "an option of another name",
      { result: { outcome: { outcome: "selected", optionId: "Allow once" } } },
    ],
    ["no option", { result: { outcome: { outcome: "selected" } } }],
    ["an outcome that there is not", { result: { outcome: { outcome: "allow_once" } } }],
    ["a text", { result: "allow_once" }],
    ["null", { result: null }],
    ["true", { result: true }],
    ["an error", { error: { code: -32601, message: "Method not found" } }],
    ["neither result nor error", {}],
    [
      "both result and error",
      {
        result: { outcome: { outcome: "selected", optionId: "allow_once" } },
        error: { code: 1, message: "no" },
      },
    ],
  ];
  for (const [name, response] of nonsense) {
    it(`lets nothing through where the answer to a card is ${name}`, async () => {
      world = await makeWorld([CARD]);
      const wire = new Wire(world);
      const session = await wire.open(world.workspace);
      const ended = wire.prompt(session, "Touch");
      wire.respond((await wire.permission()).id, response);
      assert.deepEqual((await ended).result, { stopReason: "cancelled" });
      assert.equal(existsSync(join(world.workspace, "made")), false);
      const answers = (await world.log(session)).filter((event) => event.type === "card_answered");
      assert.deepEqual(answers, []);
      assert.match(wire.stderr, /the turn is cancelled/);
      await wire.end();
    });
  }

  it("counts an answer once, and no answer that nobody asked for", async () => {
    world = await makeWorld([CARD, { text: "Done." }]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    const yes = { result: { outcome: { outcome: "selected", optionId: "allow_once" } } };
    for (const id of [0, 1, "0", null, 99]) wire.respond(id, yes);
    const ended = wire.prompt(session, "Touch");
    const { id } = await wire.permission();
    wire.respond(id, { result: { outcome: { outcome: "selected", optionId: "deny" } } });
    wire.respond(id, yes);
    wire.respond(id, yes);
    assert.deepEqual((await ended).result, { stopReason: "end_turn" });
    assert.equal(existsSync(join(world.workspace, "made")), false);
    const answers = (await world.log(session)).flatMap((event) =>
      event.type === "card_answered" ? [event.answer] : [],
    );
    assert.deepEqual(answers, ["deny"]);
    await wire.end();
  });

  it("waits for a client that never answers, and takes other sessions' prompts meanwhile", async () => {
    world = await makeWorld([CARD, { text: "Hello." }]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    const ended = wire.prompt(session, "Touch");
    await wire.permission();
    const other = await wire.request("session/new", { cwd: world.workspace, mcpServers: [] });
    assert.deepEqual((await wire.prompt(other.result?.sessionId ?? "", "Hello")).result, {
      stopReason: "end_turn",
    });
    assert.equal(existsSync(join(world.workspace, "made")), false);
    wire.notify("session/cancel", { sessionId: session });
    assert.deepEqual((await ended).result, { stopReason: "cancelled" });
    await wire.end();
  });

  const endings: [string, (wire: Wire) => void][] = [
    ["its client has closed stdin", ({ child }) => child.stdin.end()],
    ["its client is gone without a word", ({ child }) => child.stdin.destroy()],
    ["nobody reads its stdout any more", ({ child }) => child.stdout.destroy()],
    [
      "its client has stopped reading and closes stdin",
      ({ child }) => {
        child.stdout.pause();
        child.stdin.end();
      },
    ],
    ["it is told to end (SIGTERM)", ({ child }) => child.kill("SIGTERM")],
    ["it is interrupted (SIGINT)", ({ child }) => child.kill("SIGINT")],
    ["its terminal is gone (SIGHUP)", ({ child }) => child.kill("SIGHUP")],
  ];
  for (const [name, end] of endings) {
    it(`ends in mid-turn where ${name}: its command with it, the log whole`, async () => {
      const program = "sleep 60 & echo $$ $! > pids; while :; do echo flood; done";
      world = await makeWorld([
        { calls: [{ id: "c1", tool: "run", args: { argv: ["sh", "-c", program] } }] },
        { text: "I see." },
      ]);
      const wire = new Wire(world);
      const session = await wire.open(world.workspace);
      void wire.prompt(session, "Run").catch(() => {});
      const { id } = await wire.permission();
      wire.respond(id, { result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
      await wire.find((one) => one.params?.update?.sessionUpdate === "tool_call_update");
      let pids: number[] = [];
      while (pids.length < 2) {
        const text = await world.file("pids").catch(() => "");
        pids = text.endsWith("\n") ? text.split(" ").map(Number) : [];
        await new Promise((resolve) => setImmediate(resolve));
      }
      end(wire);
      assert.equal(await wire.exited, 0, wire.stderr);
      assert.deepEqual(await Promise.all(pids.map(runs)), [false, false]);
      const verdict = await verifySession(join(world.home, "sessions", session));
      assert.deepEqual(verdict.faults, []);
      assert.equal(existsSync(join(world.home, "sessions", session, "log.torn")), false);
      const last = (await world.log(session)).at(-1);
      assert.ok(last?.type === "call_ended" && last.ok === false, JSON.stringify(last));
      assert.match(last.result, /ended by SIGTERM\. What it did until then is done\./);
      assert.match(last.result, /No process of it that can be seen is left\.$/);

      const next = new Wire(world);
      await next.request("initialize", { protocolVersion: 1 });
      const { workspace: cwd } = world;
      await next.request("session/load", { sessionId: session, cwd, mcpServers: [] });
      assert.deepEqual((await next.prompt(session, "/go-on")).result, { stopReason: "end_turn" });
      const log = await world.log(session);
      const ended = log.filter(
        (event) => event.type === "call_ended" || event.type === "turn_ended",
      );
      assert.deepEqual(
        ended.map(({ type }) => type),
        ["call_ended", "turn_ended"],
      );
      assert.equal(await next.end(), 0);
    });
  }

  it("ends cleanly on SIGTERM, with the card still open in the log", async () => {
    world = await makeWorld([CARD]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    void wire.prompt(session, "Touch").catch(() => {});
    await wire.permission();
    wire.child.kill("SIGTERM");
    assert.equal(await wire.exited, 0);
    assert.equal((await world.log(session)).at(-1)?.type, "card_raised");
  });

  it("answers what was asked before the pipe was closed", async () => {
    world = await makeWorld([]);
    const wire = new Wire(world);
    const cwd = world.workspace;
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } },
      { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd, mcpServers: [] } },
    ];
    wire.raw(messages.map((one) => `${JSON.stringify(one)}\n`).join(""));
    assert.equal(await wire.end(), 0);
    assert.deepEqual(
      wire.messages.flatMap((one) => (one.method === undefined ? [one.id] : [])),
      [1, 2],
    );
  });

  it("prints nothing but protocol, whatever the environment asks of Node", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const wire = new Wire(world, {
      NODE_DEBUG: "stream",
      DEBUG: "*",
      OPENAI_LOG: "debug",
      ANTHROPIC_LOG: "debug",
    });
    const session = await wire.open(world.workspace);
    await wire.prompt(session, "Hello");
    await wire.end();
    assert.deepEqual(wire.faults, []);
    assert.doesNotMatch(wire.stderr, /sk-test-0123456789/);
  });

  it("stays small for a client that reads slowly while a command floods", async () => {
    const flood =
      "i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero | tr '\\0' x; i=$((i+1)); done";
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["sh", "-c", flood] } }] },
      { text: "Done." },
    ]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    const ended = wire.prompt(session, "Flood");
    const { id } = await wire.permission();
    wire.child.stdout.pause();
    wire.respond(id, { result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
    // The turn goes on while nobody reads: its log says so.
    for (;;) {
      const log = await world.log(session);
      if (log.some((event) => event.type === "turn_ended")) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const memory = await residentBytes(wire.child.pid ?? 0);
    assert.ok(memory < 250 * 1024 * 1024, `${memory} bytes`);
    wire.child.stdout.resume();
    assert.deepEqual((await ended).result, { stopReason: "end_turn" });
    const told = JSON.stringify(wire.messages).length;
    assert.ok(told < 2_000_000, `${told} characters for 40 MB of output`);
    await wire.end();
  });

  it("can be cancelled by a client that does not read", async () => {
    world = await makeWorld([
      {
        calls: [
          {
            id: "c1",
            tool: "run",
            args: { argv: ["sh", "-c", "yes | head -c 100000000; sleep 60"] },
          },
        ],
      },
    ]);
    const wire = new Wire(world);
    const session = await wire.open(world.workspace);
    const ended = wire.prompt(session, "Flood");
    const { id } = await wire.permission();
    wire.child.stdout.pause();
    wire.respond(id, { result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
    while (!(await world.log(session)).some((event) => event.type === "call_started")) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    wire.notify("session/cancel", { sessionId: session });
    while (!(await world.log(session)).some((event) => event.type === "turn_ended")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    wire.child.stdout.resume();
    assert.deepEqual((await ended).result, { stopReason: "cancelled" });
    await wire.end();
  });

  it("does not obey settings that are wrong, and says which", async () => {
    world = await makeWorld([]);
    await mkdir(world.home, { recursive: true });
    await writeFile(
      join(world.home, "settings.json"),
      JSON.stringify({ "countersign.hooks.stop": [{ argv: "rm -rf" }] }),
    );
    const wire = new Wire(world);
    await wire.request("initialize", { protocolVersion: 1 });
    const answer = await wire.request("session/new", { cwd: world.workspace, mcpServers: [] });
    assert.equal(answer.error?.code, -32602);
    assert.match(answer.error?.message ?? "", /settings\.json.*\n?.*argv/s);
    await wire.end();
  });
});

/** Whether a process still runs: one that has ended may wait for its parent to hear of it. */
async function runs(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "State:\tX (dead)");
  return !/^State:\s+[XZ]/m.test(status);
}

/** Resident memory of a process, from /proc. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
