import assert from "node:assert/strict";
import type { ChatClient, Message } from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { type ScriptedAnswer, startScriptedModel } from "../../support/scriptedModel.js";
import { ask, requestOf } from "./ask.js";

/** Sends, and puts the answer and a result for each of its calls behind the transcript. */
async function go(client: ChatClient, messages: Message[], result = "ok"): Promise<void> {
  const { answer, error } = await ask(client, requestOf(...messages));
  assert.equal(error, undefined);
  assert.ok(answer);
  const { text, calls, extra } = answer;
  messages.push({ role: "assistant", text, calls, ...(extra === undefined ? {} : { extra }) });
  for (const { call } of calls) messages.push({ role: "tool", call, ok: true, text: result });
}

const run = { tool: "run", args: { argv: ["true"] } };
const steps: ScriptedAnswer[] = [
  { reasoning: "First I look.", text: "I look.", calls: [run, run, { id: "", ...run }] },
  { calls: [{ id: "call_1", ...run }] },
  { text: "" },
  { calls: [{ tool: "run", args: "{not json" }] },
  { text: "Done." },
];

describe("the requests of a session", () => {
  for (const provider of ["openai", "anthropic"] as const) {
    it(`repeat on the wire, byte by byte, what was sent before (${provider})`, async () => {
      const model = await startScriptedModel([...steps, { text: "end" }]);
      try {
        const baseUrl = provider === "openai" ? model.url : model.origin;
        const client = createClient({ provider, baseUrl, model: "m" });
        const messages: Message[] = [{ role: "user", text: "begin" }];
        for (const { text } of steps) {
          await go(client, messages, "");
          if (text !== undefined && messages.at(-1)?.role === "assistant") {
            messages.push({ role: "user", text: "and then?" });
          }
        }
        await go(client, messages);
        const raw = model.requests.map((request) => request.raw);
        assert.equal(raw.length, 6);
        raw.slice(1).forEach((after, at) => {
          const before = raw[at] ?? "";
          assert.ok(before.endsWith("]}"));
          assert.equal(after.slice(0, before.length - 2), before.slice(0, -2));
        });
        assert.ok(
          !raw.some((body) => /"(content|text)":"\s*"/.test(body)),
          "empty content was sent",
        );
        const ids = messages.flatMap((message) =>
          message.role === "assistant" ? message.calls.map(({ call }) => call) : [],
        );
        assert.equal(new Set(ids).size, 5);
      } finally {
        await model.close();
      }
    });
  }

  it("go on with another provider in mid-session, there and back, with thoughts in the history", async () => {
    const model = await startScriptedModel((_, n) => ({
      reasoning: `thought ${n}`,
      text: `answer ${n}`,
      calls: [run],
    }));
    try {
      const openai = createClient({ provider: "openai", baseUrl: model.url, model: "m" });
      const anthropic = createClient({ provider: "anthropic", baseUrl: model.origin, model: "m" });
      const messages: Message[] = [{ role: "user", text: "begin" }];
      for (const client of [openai, anthropic, openai, anthropic]) await go(client, messages);
      const bodies = model.requests.map(({ raw }) => raw);
      const has = (n: number): number[] =>
        [0, 1, 2].filter((thought) => bodies[n]?.includes(`thought ${thought}`) === true);
      // Each sees its own thoughts again and never the other's.
      assert.deepEqual([has(0), has(1), has(2), has(3)], [[], [], [0], [1]]);
      for (const n of [1, 2, 3]) {
        for (let answer = 0; answer < n; answer++) {
          assert.ok(bodies[n]?.includes(`answer ${answer}`));
        }
      }
    } finally {
      await model.close();
    }
  });

  it("ask Anthropic to cache: a mark after tools and system, one for all, none that moves", async () => {
    const model = await startScriptedModel([{ text: "a" }]);
    try {
      await ask(createClient({ provider: "anthropic", baseUrl: model.origin, model: "m" }));
      const body = model.requests[0]?.body;
      assert.deepEqual(body?.cache_control, { type: "ephemeral" });
      assert.deepEqual(body?.system, [
        { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } },
      ]);
      assert.ok(!JSON.stringify(body?.messages).includes("cache_control"));
    } finally {
      await model.close();
    }
  });
});
