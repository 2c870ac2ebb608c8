import assert from "node:assert/strict";
import fc from "fast-check";
import { anthropicBody } from "../../../src/core/model/anthropicRequest.js";
import type { ChatRequest, Message } from "../../../src/core/model/chatClient.js";
import { openaiBody } from "../../../src/core/model/openaiRequest.js";
import { callId, stepsOf, toolName } from "../../../src/core/model/request.js";
import { anyHistory, session } from "./histories.js";

const RUNS = Number(process.env.COUNTERSIGN_FUZZ_RUNS ?? 1_500);
const SEED = Number(process.env.COUNTERSIGN_FUZZ_SEED ?? Date.now() % 2 ** 31);
const CONFIG = { model: "m" };
const QUIRKS = { maxTokens: "max_tokens", usage: true } as const;

function request(messages: readonly Message[]): ChatRequest {
  return {
    system: "You are an agent.",
    tools: [{ name: "run", description: "Runs.", parameters: { type: "object", properties: {} } }],
    messages,
  };
}

const openai = (messages: readonly Message[]): string =>
  JSON.stringify(openaiBody(request(messages), CONFIG, QUIRKS, "http://o"));
const anthropic = (messages: readonly Message[]): string =>
  JSON.stringify(anthropicBody(request(messages), CONFIG, true));

interface OpenAiMessage {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** What chat completions ask of a list of messages. */
function checkOpenAi(body: string): void {
  const { messages } = JSON.parse(body) as { messages: OpenAiMessage[] };
  assert.equal(messages[0]?.role, "system");
  assert.equal(messages[1]?.role, "user");
  const ids = new Set<string>();
  let owed: string[] = [];
  for (const message of messages) {
    if (owed.length > 0) assert.equal(message.role, "tool");
    if (message.role === "tool") {
      assert.equal(message.tool_call_id, owed.shift());
      assert.notEqual(message.content?.trim() ?? "", "");
      continue;
    }
    const calls = message.tool_calls ?? [];
    if (message.content === null) assert.ok(calls.length > 0);
    else assert.notEqual(message.content.trim(), "");
    for (const { id, function: called } of calls) {
      assert.match(id, /^[A-Za-z0-9_-]{1,40}$/);
      assert.ok(!ids.has(id), `${id} twice`);
      ids.add(id);
      assert.match(called.name, /^[A-Za-z0-9_-]{1,64}$/);
      const args: unknown = JSON.parse(called.arguments);
      assert.ok(typeof args === "object" && args !== null && !Array.isArray(args));
    }
    owed = calls.map(({ id }) => id);
  }
  assert.deepEqual(owed, []);
  assert.notEqual(messages.at(-1)?.role, "assistant");
}

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string;
}

/** What the messages API asks of a list of messages. */
function checkAnthropic(body: string): void {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: Block[] }[] };
  assert.equal(messages[0]?.role, "user");
  assert.equal(messages.at(-1)?.role, "user");
  const ids = new Set<string>();
  let owed: (string | undefined)[] = [];
  for (const { role, content } of messages) {
    assert.ok(content.length > 0);
    const results = content.filter(({ type }) => type === "tool_result");
    assert.deepEqual(
      results.map(({ tool_use_id }) => tool_use_id),
      owed,
    );
    for (const { content: text } of results) assert.notEqual(text?.trim() ?? "", "");
    for (const { type, text } of content) if (type === "text") assert.notEqual(text?.trim(), "");
    const uses = content.filter(({ type }) => type === "tool_use");
    assert.ok(uses.length === 0 || role === "assistant");
    for (const { id = "", name = "", input } of uses) {
      assert.match(id, /^[A-Za-z0-9_-]+$/);
      assert.ok(!ids.has(id), `${id} twice`);
      ids.add(id);
      assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
      assert.ok(typeof input === "object" && input !== null && !Array.isArray(input));
    }
    owed = uses.map(({ id }) => id);
    const thoughts = content.filter(({ type }) => type.includes("thinking"));
    assert.ok(thoughts.length < content.length, "an answer of thoughts alone");
  }
  assert.deepEqual(owed, []);
}

/** Where a request is made: after an ask, or when every call has its result. */
function requestPoints(messages: readonly Message[]): number[] {
  const points: number[] = [];
  messages.forEach((message, at) => {
    const next = messages[at + 1];
    if (message.role === "user" || (message.role === "tool" && next?.role !== "tool")) {
      points.push(at + 1);
    }
  });
  return points;
}

describe("a request", () => {
  it("is valid for OpenAI whatever the history", () => {
    fc.assert(
      fc.property(anyHistory, (messages) => checkOpenAi(openai(messages))),
      { numRuns: RUNS, seed: SEED },
    );
  });

  it("is valid for Anthropic whatever the history", () => {
    fc.assert(
      fc.property(anyHistory, (messages) => checkAnthropic(anthropic(messages))),
      { numRuns: RUNS, seed: SEED },
    );
  });

  for (const [name, body] of [
    ["OpenAI", openai],
    ["Anthropic", anthropic],
  ] as const) {
    it(`begins for ${name} with every byte of the one before it`, () => {
      fc.assert(
        fc.property(session, (messages) => {
          const bodies = requestPoints(messages).map((point) => body(messages.slice(0, point)));
          bodies.forEach((before, at) => {
            const after = bodies[at + 1];
            if (after === undefined) return;
            assert.ok(before.endsWith("]}"));
            assert.equal(after.slice(0, before.length - 2), before.slice(0, -2));
          });
        }),
        { numRuns: RUNS / 3, seed: SEED },
      );
    });
  }

  it("takes every result to its call, and says so where there is none", () => {
    const calls = [
      { call: "a", tool: "run", args: { argv: ["x"] } },
      { call: "b", tool: "run", args: null, invalid: "{" },
    ];
    assert.deepEqual(
      stepsOf([
        { role: "tool", call: "nobody", ok: true, text: "lost" },
        { role: "assistant", text: "", calls },
        { role: "user", text: "next" },
        { role: "tool", call: "b", ok: false, text: "" },
        { role: "tool", call: "b", ok: true, text: "again" },
      ]),
      [
        { kind: "user", text: "(earlier messages are left out)" },
        {
          kind: "answer",
          message: { role: "assistant", text: "", calls },
          results: [
            { call: "a", ok: false, text: "interrupted: there is no result of this call" },
            { call: "b", ok: false, text: "(no output)" },
          ],
        },
        { kind: "user", text: "next" },
      ],
    );
  });

  it("names calls and tools as every provider takes them, the same each time", () => {
    assert.equal(callId("toolu_01A-b"), "toolu_01A-b");
    assert.equal(callId("x".repeat(40)), "x".repeat(40));
    assert.match(callId("x".repeat(41)), /^call_[0-9a-f]{24}$/);
    assert.equal(callId("a b"), callId("a b"));
    assert.notEqual(callId("a b"), callId("a.b"));
    assert.deepEqual(["run", "no such", "", "é"].map(toolName), ["run", "no_such", "unknown", "_"]);
  });

  it("gives thoughts back to the model that had them, in their places, and to no other", () => {
    const blocks = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", length: 3 },
      { type: "call", call: "a" },
      { type: "text", length: 4 },
    ];
    const history: Message[] = [
      { role: "user", text: "hello" },
      {
        role: "assistant",
        text: "One two",
        calls: [{ call: "a", tool: "run", args: {} }],
        extra: { provider: "anthropic", data: { model: "m", blocks } },
      },
      { role: "tool", call: "a", ok: true, text: "ok" },
    ];
    const content = (model: string): unknown =>
      anthropicBody(request(history), { model }, true).messages[1]?.content;
    const use = { type: "tool_use", id: "a", name: "run", input: {} };
    assert.deepEqual(content("m"), [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "One" },
      use,
      { type: "text", text: " two" },
    ]);
    assert.deepEqual(content("another"), [{ type: "text", text: "One two" }, use]);
    assert.ok(!openai(history).includes("Hm."));
  });

  it("gives reasoning and signatures back to the server that sent them, and to no other", () => {
    const extra = {
      provider: "openai",
      data: { origin: "http://o", model: "m", reasoning: "Hm.", signatures: { a: { g: 1 } } },
    };
    const history: Message[] = [
      { role: "user", text: "hello" },
      { role: "assistant", text: "", calls: [{ call: "a", tool: "run", args: {} }], extra },
      { role: "tool", call: "a", ok: true, text: "ok" },
    ];
    const sent = (origin: string, model: string): unknown =>
      openaiBody(request(history), { model }, QUIRKS, origin).messages[2];
    const called = { id: "a", type: "function", function: { name: "run", arguments: "{}" } };
    assert.deepEqual(sent("http://o", "m"), {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      tool_calls: [{ ...called, extra_content: { g: 1 } }],
    });
    const plain = { role: "assistant", content: null, tool_calls: [called] };
    assert.deepEqual(sent("http://other", "m"), plain);
    assert.deepEqual(sent("http://o", "another"), plain);
    assert.ok(!anthropic(history).includes("Hm."));
  });

  it("has no empty list of tools and no empty system prompt", () => {
    const bare = { system: "", tools: [], messages: [] };
    assert.equal("tools" in openaiBody(bare, CONFIG, QUIRKS, "http://o"), false);
    const body = anthropicBody(bare, CONFIG, true);
    assert.deepEqual(["tools" in body, "system" in body], [false, false]);
  });
});
