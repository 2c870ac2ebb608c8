import assert from "node:assert/strict";
import {
  MODEL_ATTEMPTS,
  RETRY_AFTER_LONGEST_MS,
  RETRY_LONGEST_MS,
} from "../../../src/core/limits.js";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type SendOptions,
} from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { sendWithRetry, wait } from "../../../src/core/model/retry.js";
import { startScriptedModel } from "../../support/scriptedModel.js";
import { requestOf } from "./ask.js";

const ANSWER: ChatAnswer = { text: "ok", calls: [], stop: "end" };

/** A client that does these things, one an attempt. */
function clientOf(
  ...attempts: ((options: SendOptions) => ChatAnswer)[]
): ChatClient & { sent: number } {
  const client = {
    provider: "test",
    model: "test",
    contextTokens: 1_000,
    sent: 0,
    async send(_: unknown, options: SendOptions) {
      const attempt = attempts[client.sent] ?? attempts.at(-1);
      client.sent += 1;
      assert.ok(attempt);
      return attempt(options);
    },
  };
  return client;
}

const fail = (retry: boolean, after?: number) => (): never => {
  throw new ChatError("overloaded", "busy", retry, after);
};

/** Sends with waits that are noted and not waited. */
async function send(client: ChatClient, random = 0) {
  const slept: number[] = [];
  const retries: { attempt: number; reason: string }[] = [];
  const signal = new AbortController().signal;
  const result = await sendWithRetry(client, requestOf(), {
    signal,
    onDelta: () => {},
    onRetry: ({ attempt, at, reason }) => {
      assert.ok(Math.abs(Date.parse(at) - Date.now()) <= RETRY_AFTER_LONGEST_MS + 1_000);
      retries.push({ attempt, reason });
    },
    sleep: async (ms) => void slept.push(ms),
    random: () => random,
  }).catch((error: unknown) => error);
  return { result, slept, retries };
}

describe("retries", () => {
  it("wait twice as long each time, up to a limit, and end after the last attempt", async () => {
    const client = clientOf(fail(true));
    const { result, slept, retries } = await send(client);
    assert.ok(result instanceof ChatError);
    assert.equal(client.sent, MODEL_ATTEMPTS);
    assert.deepEqual(slept, [1_000, 2_000, 4_000, 8_000, 16_000]);
    assert.ok(Math.max(...slept) <= RETRY_LONGEST_MS);
    assert.deepEqual(
      retries.map(({ attempt }) => attempt),
      [2, 3, 4, 5, 6],
    );
    assert.deepEqual(new Set(retries.map(({ reason }) => reason)), new Set(["busy"]));
  });

  it("give the answer of the attempt that works", async () => {
    const { result, slept } = await send(clientOf(fail(true), fail(true), () => ANSWER));
    assert.equal(result, ANSWER);
    assert.equal(slept.length, 2);
  });

  it("take up to a quarter off a wait of ours, and nothing off one that a server asked for", async () => {
    assert.deepEqual(
      (
        await send(
          clientOf(fail(true), () => ANSWER),
          0.999,
        )
      ).slept,
      [750],
    );
    assert.deepEqual(
      (
        await send(
          clientOf(fail(true, 2_000), () => ANSWER),
          0.999,
        )
      ).slept,
      [2_000],
    );
  });

  it("obey a server up to five minutes and give up beyond", async () => {
    const at = await send(clientOf(fail(true, RETRY_AFTER_LONGEST_MS), () => ANSWER));
    assert.deepEqual([at.result, at.slept], [ANSWER, [RETRY_AFTER_LONGEST_MS]]);
    const over = clientOf(fail(true, RETRY_AFTER_LONGEST_MS + 1));
    const beyond = await send(over);
    assert.ok(beyond.result instanceof ChatError);
    assert.deepEqual([over.sent, beyond.slept], [1, []]);
  });

  it("do not follow an error that a wait does not mend, nor a bug", async () => {
    const hopeless = clientOf(fail(false));
    assert.ok((await send(hopeless)).result instanceof ChatError);
    assert.equal(hopeless.sent, 1);
    const bug = clientOf(() => {
      throw new TypeError("bug");
    });
    assert.ok((await send(bug)).result instanceof TypeError);
    assert.equal(bug.sent, 1);
  });

  it("never follow content, whatever the client says", async () => {
    for (const type of ["text", "reasoning"] as const) {
      const client = clientOf(({ onDelta }) => {
        onDelta({ type, text: "half" });
        throw new ChatError("overloaded", "busy", true);
      });
      assert.ok((await send(client)).result instanceof ChatError);
      assert.equal(client.sent, 1);
    }
  });

  it("end with the signal's reason when cancelled in a wait", async () => {
    const model = await startScriptedModel([{ status: 429, headers: { "retry-after": "200" } }]);
    try {
      const controller = new AbortController();
      const reason = new Error("stop");
      const client = createClient({ provider: "openai", baseUrl: model.url, model: "m" });
      const started = performance.now();
      const sending = sendWithRetry(client, requestOf(), {
        signal: controller.signal,
        onDelta: () => {},
        onRetry: () => setImmediate(() => controller.abort(reason)),
      });
      await assert.rejects(sending, (error) => error === reason);
      assert.ok(performance.now() - started < 5_000);
      assert.equal(model.requests.length, 1);
    } finally {
      await model.close();
    }
  });

  it("wait two seconds and more where a real server asks for two, then go on", async () => {
    const model = await startScriptedModel([
      { status: 429, headers: { "retry-after": "2" } },
      { status: 529 },
      { end: "destroyed", raw: [] },
      { text: "there" },
    ]);
    try {
      const waits: number[] = [];
      const answer = await sendWithRetry(
        createClient({ provider: "openai", baseUrl: model.url, model: "m" }),
        requestOf(),
        {
          signal: new AbortController().signal,
          onDelta: () => {},
          onRetry: () => {},
          sleep: async (ms, signal) => {
            waits.push(ms);
            await wait(waits.length === 1 ? ms : 0, signal);
          },
        },
      );
      assert.equal(answer.text, "there");
      assert.ok((waits[0] ?? 0) >= 2_000);
      assert.equal(model.requests.length, 4);
    } finally {
      await model.close();
    }
  });

  it("do not begin when the signal is aborted already", async () => {
    const client = clientOf(() => ANSWER);
    const signal = AbortSignal.abort(new Error("before"));
    await assert.rejects(
      sendWithRetry(client, requestOf(), { signal, onDelta: () => {}, onRetry: () => {} }),
      /before/,
    );
    assert.equal(client.sent, 0);
    await assert.rejects(wait(10, signal), /before/);
  });
});
