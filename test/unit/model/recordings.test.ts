import assert from "node:assert/strict";
import { type ChatAnswer, ChatError } from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { playRecordings, recording, recordingNames } from "../../support/recordings.js";
import { ask, joined } from "./ask.js";

const KEY = "sk-recorded-0123456789";

/** An answer as a test expects it: ids of ours are named `own`. */
type Expected = Partial<Omit<ChatAnswer, "calls">> & {
  readonly calls?: readonly (readonly [
    id: string,
    tool: string,
    args: unknown,
    invalid?: string,
  ])[];
};
type Fault = {
  readonly kind: string;
  readonly retry: boolean;
  /** In the error's text. */
  readonly says?: RegExp;
  readonly after?: number;
  /** Text that had been shown. */
  readonly shown?: string;
};

const USAGE = { input: 120, output: 17, cached: 64 };
const ANTHROPIC_USAGE = { input: 128, output: 25, cached: 100 };
const path = (name: string): { path: string } => ({ path: name });
const whole = (expected: Expected): Expected => ({ usage: USAGE, ...expected });
const claude = (expected: Expected): Expected => ({ usage: ANTHROPIC_USAGE, ...expected });

const answers: Record<string, Expected> = {
  "openai/plain-text": whole({ text: "Grüße, 世界 🎉." }),
  "openai/one-call": whole({ text: "I read it.", calls: [["call_a", "read_file", path("a.txt")]] }),
  "openai/three-parallel-calls": whole({
    calls: [
      ["call_a", "read_file", path("a.txt")],
      ["call_b", "grep", { pattern: "x" }],
      ["call_c", "list_dir", {}],
    ],
  }),
  "openai/call-split-in-character-and-escape": whole({
    text: "🎉",
    calls: [["call_a", "write_file", { path: "a.txt", content: "😀 \n é \\" }]],
  }),
  "openai/calls-without-index": whole({
    calls: [
      ["call_a", "read_file", path("a.txt")],
      ["call_b", "read_file", path("b.txt")],
    ],
  }),
  "openai/calls-without-index-and-id": whole({
    calls: [
      ["own", "read_file", path("a.txt")],
      ["own", "list_dir", {}],
      ["own", "read_file", path("b.txt")],
    ],
  }),
  "openai/calls-with-empty-id": whole({
    calls: [
      ["own", "read_file", path("a.txt")],
      ["own", "list_dir", {}],
    ],
  }),
  "openai/calls-with-repeated-id": whole({
    calls: [
      ["call_0", "read_file", path("a.txt")],
      ["own", "read_file", path("b.txt")],
    ],
  }),
  "openai/name-and-id-in-every-piece": whole({ calls: [["call_a", "read_file", path("a.txt")]] }),
  "openai/call-reuses-index": whole({
    calls: [
      ["A", "read_file", path("a")],
      ["B", "read_file", path("b")],
    ],
  }),
  "openai/index-from-one": whole({ calls: [["call_a", "list_dir", path("src")]] }),
  "openai/first-delta-without-id": whole({ calls: [["own", "list_dir", path("src")]] }),
  "openai/name-after-arguments": whole({ calls: [["call_a", "list_dir", path("src")]] }),
  "openai/arguments-as-object": whole({ calls: [["call_a", "list_dir", path("src")]] }),
  "openai/arguments-not-json": whole({
    calls: [["call_a", "write_file", null, '{"path":"a.txt","content":"x']],
  }),
  "openai/arguments-not-an-object": whole({
    calls: [
      ["call_a", "run", null, "[]"],
      ["call_b", "run", null, "null"],
      ["call_c", "run", null, '"str"'],
      ["call_d", "run", null, "7"],
    ],
  }),
  "openai/arguments-empty": whole({ calls: [["call_a", "list_dir", {}]] }),
  "openai/unknown-tool": whole({ calls: [["call_a", "readFile", {}]] }),
  "openai/legacy-function-call": {
    usage: { input: 36, output: 16, estimated: true },
    calls: [["own", "list_dir", path("src")]],
  },
  "openai/finish-missing": {
    text: "All good.",
    usage: { input: 36, output: 3, estimated: true },
  },
  "openai/done-missing": { text: "All good.", usage: { input: 36, output: 3, estimated: true } },
  "openai/finish-length": whole({ text: "The first of many", stop: "length" }),
  "openai/finish-length-in-call": whole({
    stop: "length",
    calls: [["call_a", "write_file", null, '{"path":"a.txt","content":"line']],
  }),
  "openai/empty-answer": whole({}),
  "openai/nothing-but-done": { usage: { input: 36, output: 0, estimated: true } },
  "openai/reasoning-content": whole({
    reasoning: "The file first.",
    calls: [["call_a", "read_file", path("a.txt")]],
    extra: {
      provider: "openai",
      data: { origin: "ORIGIN", model: "recorded", reasoning: "The file first." },
    },
  }),
  "openai/reasoning-details": whole({
    reasoning: "Well, yes",
    text: "Yes.",
    extra: {
      provider: "openai",
      data: {
        origin: "ORIGIN",
        model: "recorded",
        details: [
          {
            type: "reasoning.text",
            text: "Well, yes",
            index: 0,
            format: "anthropic-claude-v1",
            signature: "c2ln",
          },
        ],
      },
    },
  }),
  "openai/thinking-parts": whole({ reasoning: "Hm. ", text: "Yes." }),
  "openai/thought-signature": whole({
    calls: [["fc-1", "list_dir", {}]],
    extra: {
      provider: "openai",
      data: {
        origin: "ORIGIN",
        model: "recorded",
        signatures: { "fc-1": { google: { thought_signature: "c2lnbmF0dXJl" } } },
      },
    },
  }),
  "openai/keep-alive-comments": whole({ text: "Slow but here." }),
  "openai/crlf": whole({ text: "Grüße 🎉", calls: [["call_a", "list_dir", path("src")]] }),
  "openai/lone-cr": whole({ text: "Old" }),
  "openai/no-space-after-data": whole({ text: "Tight." }),
  "openai/byte-order-mark": whole({ text: "Marked." }),
  "openai/no-blank-line-at-the-end": whole({ text: "Last words." }),
  "openai/usage-never": { text: "No numbers.", usage: { input: 36, output: 3, estimated: true } },
  "openai/usage-in-every-chunk": { text: "ab", usage: { input: 5, output: 3 } },
  "openai/usage-null-until-last": whole({ text: "a" }),
  "openai/not-streamed": whole({ text: "Whole.", calls: [["call_a", "list_dir", {}]] }),
  "anthropic/plain-text": claude({ text: "Grüße, 世界 🎉." }),
  "anthropic/one-call": claude({
    text: "I read it.",
    calls: [["toolu_1", "read_file", path("a.txt")]],
  }),
  "anthropic/three-parallel-calls": claude({
    calls: [
      ["toolu_1", "read_file", path("a.txt")],
      ["toolu_2", "grep", { pattern: "x" }],
      ["toolu_3", "list_dir", {}],
    ],
  }),
  "anthropic/arguments-empty": claude({ calls: [["toolu_1", "list_dir", {}]] }),
  "anthropic/arguments-in-the-start": claude({ calls: [["toolu_1", "list_dir", path("src")]] }),
  "anthropic/arguments-not-json": claude({
    calls: [["toolu_1", "write_file", null, '{"path":"a.txt","content":"x']],
  }),
  "anthropic/cut-in-call": claude({
    stop: "length",
    calls: [["toolu_1", "write_file", null, '{"path":"a.txt","content":"x']],
  }),
  "anthropic/cut-before-arguments": claude({
    stop: "length",
    calls: [["toolu_1", "write_file", null, ""]],
  }),
  "anthropic/thinking": claude({
    reasoning: "Let me look.",
    text: "I look. Then I read.",
    calls: [["toolu_1", "list_dir", {}]],
    extra: {
      provider: "anthropic",
      data: {
        model: "recorded",
        blocks: [
          { type: "thinking", thinking: "Let me look.", signature: "c2ln" },
          { type: "redacted_thinking", data: "aGlkZGVu" },
          { type: "text", length: 8 },
          { type: "call", call: "toolu_1" },
          { type: "text", length: 12 },
        ],
      },
    },
  }),
  "anthropic/empty-answer": claude({ usage: { ...ANTHROPIC_USAGE, output: 2 } }),
  "anthropic/unknown-events": claude({ text: "Still here." }),
  "anthropic/no-blank-line-at-the-end": claude({ text: "Last words." }),
  "anthropic/not-streamed": {
    text: "Whole.",
    usage: { input: 20, output: 25 },
    calls: [["toolu_1", "list_dir", path("src")]],
  },
};

const SET_KEY = /Set the right one with “Set API Key…”/;
const BROKE_OFF = /broke off before it was whole\. Nothing of it was carried out/;
const faults: Record<string, Fault> = {
  "openai/error-in-stream": { kind: "overloaded", retry: true, says: /try again/ },
  "openai/error-after-text": { kind: "overloaded", retry: false, shown: "Half an ans" },
  "openai/error-after-half-a-call": { kind: "overloaded", retry: false },
  "openai/error-named": { kind: "overloaded", retry: true },
  "openai/closed-in-call": { kind: "stream", retry: false, says: BROKE_OFF, shown: "I run it." },
  "openai/closed-in-text": { kind: "stream", retry: false, says: BROKE_OFF, shown: "Half an ans" },
  "openai/closed-before-anything": { kind: "stream", retry: true },
  "openai/not-json": { kind: "stream", retry: false, says: BROKE_OFF },
  "openai/content-filter": { kind: "request", retry: false, says: /content filter/, shown: "It" },
  "openai/error-with-status-200": { kind: "model", retry: false, says: /no model “recorded”/ },
  "openai/error-as-stream-type": { kind: "model", retry: false, says: /no model “recorded”/ },
  "openai/429-seconds": { kind: "overloaded", retry: true, after: 2_000 },
  "openai/429-date": { kind: "overloaded", retry: true, after: 18_000 },
  "openai/429-milliseconds": { kind: "overloaded", retry: true, after: 1_500 },
  "openai/429-too-long": {
    kind: "overloaded",
    retry: false,
    after: 7_200_000,
    says: /asks to wait 120 minutes/,
  },
  "openai/429-quota": { kind: "quota", retry: false, says: /plan and billing/ },
  "openai/401": { kind: "key", retry: false, says: SET_KEY },
  "openai/402": { kind: "quota", retry: false },
  "openai/403": { kind: "key", retry: false, says: /may not use the model “recorded”/ },
  "openai/404-model": { kind: "model", retry: false, says: /“Select Model…”/ },
  "openai/404-path": { kind: "model", retry: false, says: /the base URL/ },
  "openai/400-context": { kind: "context", retry: false, says: /Start a new session/ },
  "openai/400-llama-context": { kind: "context", retry: false },
  "openai/400-no-tools": { kind: "model", retry: false, says: /cannot use tools/ },
  "openai/400-stream-options": { kind: "request", retry: false },
  "openai/408": { kind: "overloaded", retry: true },
  "openai/409": { kind: "overloaded", retry: true },
  "openai/500": { kind: "overloaded", retry: true },
  "openai/503-empty": { kind: "overloaded", retry: true },
  "openai/page": { kind: "connection", retry: false, says: /answered with a web page.*base URL/ },
  "openai/502-page": { kind: "overloaded", retry: true, says: /a web page instead/ },
  "openai/403-page": { kind: "connection", retry: false, says: /web page \(status 403\).*proxy/ },
  "openai/redirect": {
    kind: "connection",
    retry: false,
    says: /redirects to https:\/\/elsewhere\.invalid\/v1\/chat\/completions\. /,
  },
  "anthropic/refusal": { kind: "request", retry: false, says: /declined/, shown: "I" },
  "anthropic/overloaded-in-stream": { kind: "overloaded", retry: true },
  "anthropic/overloaded-after-half-a-call": { kind: "overloaded", retry: false },
  "anthropic/closed-in-call": { kind: "stream", retry: false, says: BROKE_OFF },
  "anthropic/529": { kind: "overloaded", retry: true },
  "anthropic/401": { kind: "key", retry: false, says: SET_KEY },
  "anthropic/404-model": { kind: "model", retry: false },
  "anthropic/400-context": { kind: "context", retry: false },
  "anthropic/400-credit": { kind: "quota", retry: false },
  "anthropic/400-cache-control": { kind: "request", retry: false },
  "anthropic/429": { kind: "overloaded", retry: true, after: 3_000 },
  "anthropic/413": { kind: "context", retry: false },
};

async function play(name: string): Promise<Awaited<ReturnType<typeof ask>> & { origin: string }> {
  const bytes = recording(name, {
    KEY,
    DATE: new Date(Date.now() + 18_000).toUTCString(),
  });
  const player = await playRecordings(() => ({ pieces: [bytes] }));
  try {
    const provider = name.startsWith("openai/") ? "openai" : "anthropic";
    const baseUrl = provider === "openai" ? player.url : player.origin;
    const advice = { setKey: "with “Set API Key…”", pickModel: "with “Select Model…”" };
    const client = createClient({ provider, baseUrl, model: "recorded", key: KEY, advice });
    return { ...(await ask(client)), origin: player.origin };
  } finally {
    await player.close();
  }
}

describe("recorded answers of servers", () => {
  it("each has a test", () => {
    assert.deepEqual(
      recordingNames().sort(),
      [...Object.keys(answers), ...Object.keys(faults)].sort(),
    );
  });

  for (const [name, expected] of Object.entries(answers)) {
    it(`${name} is read whole`, async () => {
      const { answer, error, deltas, origin } = await play(name);
      assert.equal(error, undefined);
      assert.ok(answer);
      const { calls = [], extra, ...rest } = expected;
      const named = calls.map(([id, tool, args, invalid], at) => ({
        call: id === "own" ? answer.calls[at]?.call : id,
        tool,
        args,
        ...(invalid === undefined ? {} : { invalid }),
      }));
      const data = JSON.parse(JSON.stringify(extra ?? null).replace("ORIGIN", origin)) as unknown;
      assert.deepEqual(answer, {
        text: "",
        stop: "end",
        ...rest,
        calls: named,
        ...(extra === undefined ? {} : { extra: data }),
      });
      const ids = answer.calls.map(({ call }) => call);
      assert.equal(new Set(ids).size, ids.length);
      calls.forEach(([id], at) => {
        if (id === "own") assert.match(ids[at] ?? "", /^[A-Za-z0-9]{9}$/);
      });
      assert.equal(joined(deltas, "text"), answer.text);
      assert.equal(joined(deltas, "reasoning"), answer.reasoning ?? "");
    });
  }

  for (const [name, expected] of Object.entries(faults)) {
    it(`${name} is an error that says what to do`, async () => {
      const { answer, error, deltas } = await play(name);
      assert.equal(answer, undefined);
      assert.ok(error instanceof ChatError, String(error));
      assert.deepEqual(
        { kind: error.kind, retry: error.retry, shown: joined(deltas, "text") },
        { kind: expected.kind, retry: expected.retry, shown: expected.shown ?? "" },
      );
      // A date is whole seconds, and some time has gone by since it was made.
      const after =
        error.retryAfter === undefined ? undefined : Math.ceil(error.retryAfter / 5_000);
      assert.equal(
        after,
        expected.after === undefined ? undefined : Math.ceil(expected.after / 5_000),
      );
      if (name !== "openai/429-date") assert.equal(error.retryAfter, expected.after);
      if (expected.says !== undefined) assert.match(error.message, expected.says);
      assert.ok(!error.message.includes(KEY), "the key is in the error");
      assert.ok(!/<html|\n/i.test(error.message), "a page is in the error");
    });
  }
});
