import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ChatError } from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { listModels } from "../../../src/core/model/list.js";
import { bestModel, findOllama, smallContext } from "../../../src/core/model/ollama.js";
import { probe } from "../../../src/core/model/probe.js";
import { startScriptedModel } from "../../support/scriptedModel.js";
import { ask } from "./ask.js";

const signal = (): AbortSignal => new AbortController().signal;
const refused = (message: string) => ({
  status: 400,
  body: JSON.stringify({ error: { message } }),
});

/** A server that answers paths with JSON, and what it was asked. */
async function jsonServer(
  answer: (path: string, body: string) => unknown,
): Promise<{ origin: string; asked: string[]; headers: unknown[]; close(): void }> {
  const asked: string[] = [];
  const headers: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push(request.url ?? "");
    headers.push(request.headers);
    const value = answer(request.url ?? "", Buffer.concat(chunks).toString("utf8"));
    response.statusCode = value === undefined ? 404 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(value ?? { error: "not here" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, asked, headers, close: () => server.close() };
}

describe("servers that differ", () => {
  it("get the request again without stream_options where they do not know it, and from then on", async () => {
    const model = await startScriptedModel([
      refused("Unrecognized request argument: stream_options"),
      { text: "a" },
      { text: "b" },
    ]);
    try {
      const client = createClient({ provider: "openai", baseUrl: model.url, model: "m" });
      assert.deepEqual(
        [(await ask(client)).answer?.text, (await ask(client)).answer?.text],
        ["a", "b"],
      );
      assert.deepEqual(
        model.requests.map(({ body }) => body.stream_options),
        [{ include_usage: true }, undefined, undefined],
      );
    } finally {
      await model.close();
    }
  });

  it("get the limit of an answer under the name they know", async () => {
    const model = await startScriptedModel([
      refused(
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      { text: "a" },
    ]);
    try {
      const client = createClient({
        provider: "openai",
        baseUrl: model.url,
        model: "m",
        maxTokens: 9,
      });
      assert.equal((await ask(client)).answer?.text, "a");
      assert.deepEqual(
        model.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]),
        [
          [9, undefined],
          [undefined, 9],
        ],
      );
    } finally {
      await model.close();
    }
  });

  it("are asked at most once more for each field they refuse", async () => {
    const model = await startScriptedModel(() =>
      refused("stream_options and max_completion_tokens"),
    );
    try {
      const config = { provider: "openai", baseUrl: model.url, model: "m", maxTokens: 9 } as const;
      const { error } = await ask(createClient(config));
      assert.ok(error instanceof ChatError);
      assert.equal(model.requests.length, 3);
    } finally {
      await model.close();
    }
  });

  it("of Anthropic's kind that know no mark for a whole request get it without", async () => {
    const model = await startScriptedModel([
      refused("cache_control: Extra inputs are not permitted"),
      { text: "a" },
      { text: "b" },
    ]);
    try {
      const client = createClient({
        provider: "anthropic",
        baseUrl: `${model.origin}/v1/`,
        model: "m",
      });
      await ask(client);
      assert.equal((await ask(client)).answer?.text, "b");
      assert.deepEqual(
        model.requests.map(({ path, body }) => [path, "cache_control" in body]),
        [
          ["/v1/messages", true],
          ["/v1/messages", false],
          ["/v1/messages", false],
        ],
      );
    } finally {
      await model.close();
    }
  });

  it("get the query of the base URL with every request", async () => {
    const model = await startScriptedModel([{ text: "a" }]);
    try {
      const baseUrl = `${model.origin}/openai/deployments/d/?api-version=2024-10-21`;
      const { error } = await ask(createClient({ provider: "openai", baseUrl, model: "m" }));
      assert.equal(error, undefined);
      assert.equal(
        model.requests[0]?.path,
        "/openai/deployments/d/chat/completions?api-version=2024-10-21",
      );
    } finally {
      await model.close();
    }
  });

  it("give Anthropic's models the answer's length that they take", async () => {
    const model = await startScriptedModel(() => ({ text: "a" }));
    try {
      for (const [name, maxTokens] of [
        ["claude-3-haiku-20240307", undefined],
        ["claude-3-5-sonnet-latest", undefined],
        ["claude-opus-4-5", undefined],
        ["other", undefined],
        ["other", 77],
      ] as const) {
        const more = maxTokens === undefined ? {} : { maxTokens };
        const config = {
          provider: "anthropic",
          baseUrl: model.origin,
          model: name,
          ...more,
        } as const;
        await ask(createClient(config));
      }
      assert.deepEqual(
        model.requests.map(({ body }) => body.max_tokens),
        [4_096, 8_192, 32_000, 8_192, 77],
      );
    } finally {
      await model.close();
    }
  });
});

describe("the list of a server's models", () => {
  it("is sorted, with the windows that servers tell under their own names", async () => {
    const server = await jsonServer(() => ({
      data: [
        { id: "d", max_input_tokens: 200_000, max_tokens: 64_000 },
        { id: "b", context_length: 32_768, max_tokens: null },
        { id: "c", max_model_len: 8_192 },
        { id: "a", context_length: "many" },
      ],
    }));
    try {
      const baseUrl = `${server.origin}/v1/?v=1`;
      const listed = await listModels({ provider: "openai", baseUrl, key: "sk-abcdef" }, signal());
      assert.deepEqual(listed, [
        { id: "a" },
        { id: "b", contextTokens: 32_768 },
        { id: "c", contextTokens: 8_192 },
        { id: "d", contextTokens: 200_000, maxTokens: 64_000 },
      ]);
      await listModels(
        { provider: "anthropic", baseUrl: server.origin, key: "sk-abcdef" },
        signal(),
      );
      assert.deepEqual(server.asked, ["/v1/models?v=1", "/v1/models?limit=1000"]);
      const [first, second] = server.headers as Record<string, string>[];
      assert.equal(first?.authorization, "Bearer sk-abcdef");
      assert.equal(second?.["x-api-key"], "sk-abcdef");
    } finally {
      server.close();
    }
  });

  it("that is none is an error that says what to do", async () => {
    for (const [value, says] of [
      [{ models: [] }, /gave no list of models/],
      [undefined, /base URL/],
    ] as const) {
      const server = await jsonServer(() => value);
      try {
        await assert.rejects(
          listModels({ provider: "openai", baseUrl: server.origin }, signal()),
          (error) => error instanceof ChatError && says.test(error.message),
        );
      } finally {
        server.close();
      }
    }
  });
});

describe("the test of a model", () => {
  it("says that it works, and how long it took, where it calls the tool", async () => {
    const model = await startScriptedModel([
      { calls: [{ tool: "ready", args: {} }] },
      { text: "ready" },
    ]);
    try {
      const client = createClient({ provider: "openai", baseUrl: model.url, model: "m" });
      const works = await probe(client, signal());
      assert.equal(works.outcome, "works");
      assert.match(works.message, /“m” works: it answered in \d+ ms and called a tool/);
      assert.match((await probe(client, signal())).message, /did not call the tool/);
    } finally {
      await model.close();
    }
  });

  it("says what is wrong where it does not", async () => {
    const model = await startScriptedModel([{ status: 401 }]);
    try {
      const client = createClient({ provider: "openai", baseUrl: model.url, model: "m" });
      const found = await probe(client, signal());
      assert.equal(found.outcome, "fails");
      assert.match(found.message, /did not accept the key/);
      const reason = new Error("stop");
      await assert.rejects(probe(client, AbortSignal.abort(reason)), (error) => error === reason);
    } finally {
      await model.close();
    }
  });
});

describe("Ollama on this machine", () => {
  it("is found with its models, and the window that each really has", async () => {
    const shows: Record<string, unknown> = {
      "plain:8b": {
        model_info: { "llama.context_length": 131_072 },
        capabilities: ["completion", "tools"],
      },
      "set:8b": {
        model_info: { "qwen3.context_length": 40_960 },
        parameters: 'stop  "x"\nnum_ctx                        32768\n',
        capabilities: ["tools"],
      },
      "loaded:8b": {
        model_info: { "llama.context_length": 131_072 },
        capabilities: ["completion"],
      },
      "small:1b": { model_info: { "tiny.context_length": 2_048 } },
    };
    const server = await jsonServer((path, body) => {
      if (path === "/api/tags") return { models: Object.keys(shows).map((name) => ({ name })) };
      if (path === "/api/ps") return { models: [{ name: "loaded:8b", context_length: 65_536 }] };
      return shows[(JSON.parse(body) as { model: string }).model];
    });
    try {
      const ollama = await findOllama({ url: `${server.origin}/v1/` });
      assert.deepEqual(ollama, {
        baseUrl: `${server.origin}/v1`,
        models: [
          { name: "plain:8b", contextTokens: 4_096, largestTokens: 131_072, tools: true },
          { name: "set:8b", contextTokens: 32_768, largestTokens: 40_960, tools: true },
          { name: "loaded:8b", contextTokens: 65_536, largestTokens: 131_072, tools: false },
          { name: "small:1b", contextTokens: 2_048, largestTokens: 2_048 },
        ],
      });
      const [plain, set, loaded, small] = ollama?.models ?? [];
      assert.ok(plain && set && loaded && small);
      assert.match(smallContext(plain) ?? "", /4,096 tokens.*OLLAMA_CONTEXT_LENGTH=32768/);
      assert.match(smallContext(small) ?? "", /2,048 tokens, too small/);
      assert.deepEqual([smallContext(set), smallContext(loaded)], [undefined, undefined]);
      assert.equal(bestModel(ollama?.models ?? []), set);
      assert.equal(bestModel([loaded]), undefined);
      assert.equal(bestModel([loaded, small]), small);
    } finally {
      server.close();
    }
  });

  it("notices a window just under what an agent needs and not one at it", () => {
    assert.equal(smallContext({ name: "a", contextTokens: 16_384 }), undefined);
    assert.ok(smallContext({ name: "a", contextTokens: 16_383 }));
  });

  it("is not there where nothing answers, something else does, or it is silent", async () => {
    const other = await jsonServer(() => ({ hello: "world" }));
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      assert.equal(await findOllama({ url: other.origin }), undefined);
      assert.equal(
        await findOllama({ url: `http://127.0.0.1:${port}`, timeoutMs: 150 }),
        undefined,
      );
      other.close();
      assert.equal(await findOllama({ url: other.origin }), undefined);
      assert.equal(await findOllama({ url: "no url" }), undefined);
    } finally {
      other.close();
      silent.closeAllConnections();
      silent.close();
    }
  });
});
