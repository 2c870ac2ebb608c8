import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { adviceOf, readEnvironment } from "../../src/acp/environment.js";
import { ollamaUrl, orOllama } from "../../src/acp/ollama.js";
import type { ScriptedModel } from "../support/scriptedModel.js";
import { Editor, makeWorld, type World } from "./support/agent.js";

const none: NodeJS.ProcessEnv = {
  OPENAI_BASE_URL: undefined,
  OPENAI_API_KEY: undefined,
  OPENAI_MODEL: undefined,
};

/** Ollama's own addresses, its chat passed on to a scripted model. */
async function startOllama(
  model: ScriptedModel,
  models: Readonly<Record<string, { tokens: number; tools: boolean }>>,
): Promise<{ server: Server; host: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await new Response(request).text().catch(() => "");
    const path = request.url ?? "";
    asked.push(path);
    const json = (value: unknown) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (path === "/api/tags")
      return json({ models: Object.keys(models).map((name) => ({ name })) });
    if (path === "/api/ps") return json({ models: [] });
    if (path === "/api/show") {
      const { model: name } = JSON.parse(body) as { model: string };
      const { tokens, tools } = models[name] ?? { tokens: 0, tools: false };
      return json({
        model_info: { "test.context_length": 131_072 },
        parameters: `num_ctx ${tokens}`,
        capabilities: tools ? ["completion", "tools"] : ["completion"],
      });
    }
    const passed = await fetch(new URL(path, model.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    response.writeHead(passed.status, { "content-type": passed.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await passed.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe("an error of a model over the protocol", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("names the environment variable, and no command of an editor", async () => {
    world = await makeWorld([{ status: 401 }]);
    const editor = new Editor(world);
    const session = await editor.open();
    const failure = await editor.prompt(session, "Hello").then(
      () => editor.text("agent_message_chunk"),
      (error: Error) => `${error.message} ${editor.text("agent_message_chunk")}`,
    );
    assert.match(failure, /did not accept the key.*in OPENAI_API_KEY where the agent is started\./);
    assert.doesNotMatch(failure, /Set API Key|Select Model/);
    await editor.close();
  });

  it("names the variables of the provider that it is about", () => {
    assert.deepEqual(adviceOf({ provider: "anthropic", baseUrl: "https://a", model: "m" }), {
      setKey: "in ANTHROPIC_API_KEY where the agent is started",
      pickModel: "in ANTHROPIC_MODEL where the agent is started",
    });
    assert.match(adviceOf({ provider: "demo" }).pickModel, /OPENAI_MODEL or ANTHROPIC_MODEL/);
  });
});

describe("the limits of settings.json over the protocol", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("hold for the next request, and are as the file has them by then", async () => {
    world = await makeWorld([
      { text: "One.", usage: { input: 10, output: 2 } },
      { text: "Two.", usage: { input: 20, output: 2 } },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    await editor.prompt(session, "One");
    await writeFile(
      join(world.home, "settings.json"),
      JSON.stringify({
        "countersign.models.openai.headers": { "X-Team": "tools" },
        "countersign.models.maxTokens": 7,
        "countersign.models.contextTokens": 64000,
      }),
    );
    await editor.prompt(session, "Two");
    const limits = world.model.requests.map(({ body }) => {
      const { max_tokens, max_completion_tokens } = body as Record<string, unknown>;
      return max_tokens ?? max_completion_tokens;
    });
    assert.deepEqual(limits, [undefined, 7]);
    assert.deepEqual(
      world.model.requests.map(({ headers }) => headers["x-team"]),
      [undefined, "tools"],
    );
    const sizes = editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === "usage_update" ? [[update.used, update.size]] : [],
    );
    assert.deepEqual(sizes, [
      [12, 128_000],
      [22, 64_000],
    ]);
    await editor.close();
  });
});

describe("an Ollama on this machine", () => {
  let world: World;
  let ollama: Awaited<ReturnType<typeof startOllama>>;

  async function start(models: Parameters<typeof startOllama>[1]): Promise<void> {
    world = await makeWorld([{ text: "Ahoy." }]);
    ollama = await startOllama(world.model, models);
  }
  afterEach(async () => {
    await world.dispose();
    await new Promise((resolve) => ollama.server.close(resolve));
  });

  it("answers where no model is named, with the one that has tools and the largest window", async () => {
    await start({
      "chat:7b": { tokens: 65_536, tools: false },
      "small:3b": { tokens: 16_384, tools: true },
      "large:30b": { tokens: 32_768, tools: true },
    });
    const editor = new Editor(world, { env: { ...none, OLLAMA_HOST: ollama.host } });
    await editor.initialize();
    const { sessionId, configOptions } = await editor.agent.request(methods.agent.session.new, {
      cwd: world.workspace,
      mcpServers: [],
    });
    const option = configOptions?.find(({ id }) => id === "model");
    assert.deepEqual(option?.type === "select" ? [option.currentValue, option.options] : [], [
      "openai:large:30b",
      [
        { value: "openai:large:30b", name: "large:30b" },
        { value: "openai:small:3b", name: "small:3b" },
      ],
    ]);
    await editor.prompt(sessionId, "Hello");
    assert.equal(editor.text("agent_message_chunk"), "Ahoy.");
    assert.equal(world.model.requests.at(-1)?.body.model, "large:30b");
    assert.equal(editor.stderr, "");
    await editor.close();
  });

  it("is told of where its context is small", async () => {
    await start({ "small:3b": { tokens: 4_096, tools: true } });
    const said: string[] = [];
    const env = { OLLAMA_HOST: ollama.host };
    const { models } = await orOllama(readEnvironment(env), env, (message) => said.push(message));
    assert.deepEqual(models, [
      {
        provider: "openai",
        baseUrl: `http://${ollama.host}/v1`,
        model: "small:3b",
        contextTokens: 4_096,
        headers: {},
      },
    ]);
    assert.match(said.join(), /context of 4,096 tokens.*OLLAMA_CONTEXT_LENGTH/);
  });

  it("is not asked where the user has begun to name a model, and a fault stays a fault", async () => {
    await start({ "large:30b": { tokens: 32_768, tools: true } });
    for (const begun of [
      { OPENAI_MODEL: "m" },
      { OPENAI_API_KEY: "k" },
      { ANTHROPIC_API_KEY: "k" },
      { COUNTERSIGN_MODEL: "demo" },
      { COUNTERSIGN_MODEL: "openai" },
    ]) {
      const env = { ...begun, OLLAMA_HOST: ollama.host };
      const before = readEnvironment(env);
      assert.deepEqual(await orOllama(before, env, assert.fail), before);
    }
    assert.deepEqual(ollama.asked, []);
  });

  it("with no model that can use tools leaves the advice to set one up", async () => {
    await start({ "chat:7b": { tokens: 65_536, tools: false } });
    const env = { OLLAMA_HOST: ollama.host };
    const { models, fault } = await orOllama(readEnvironment(env), env, assert.fail);
    assert.deepEqual(models, []);
    assert.match(fault ?? "", /OPENAI_MODEL.*COUNTERSIGN_MODEL=demo/);
  });
});

describe("Ollama's own variable OLLAMA_HOST", () => {
  for (const [given, url] of [
    [undefined, "http://127.0.0.1:11434"],
    ["", "http://127.0.0.1:11434"],
    ["127.0.0.1", "http://127.0.0.1:11434"],
    ["localhost:8080", "http://localhost:8080"],
    [":8080", "http://127.0.0.1:8080"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:8080", "http://127.0.0.1:8080"],
    ["http://127.0.0.1:8080/", "http://127.0.0.1:8080"],
    ["https://localhost", "https://localhost"],
    ["[::1]:8080", "http://[::1]:8080"],
    ["192.168.1.5:11434", undefined],
    ["https://ollama.example.com", undefined],
    ["127.0.0.1.example.com", undefined],
    ["not a host", undefined],
  ] as const) {
    it(`${given === undefined ? "that is not set" : JSON.stringify(given)} is ${url ?? "no place on this machine"}`, () => {
      assert.equal(ollamaUrl(given), url);
    });
  }
});
