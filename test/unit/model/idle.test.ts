import assert from "node:assert/strict";
import { ChatError } from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { bodyStart, type Play, playRecordings, recording } from "../../support/recordings.js";
import { startScriptedModel } from "../../support/scriptedModel.js";
import { ask, joined, requestOf } from "./ask.js";

const providers = ["openai", "anthropic"] as const;
const IDLE_MS = 250;

async function against(play: Play, provider: "openai" | "anthropic", idleMs = IDLE_MS) {
  const player = await playRecordings(() => play);
  try {
    const baseUrl = provider === "openai" ? player.url : player.origin;
    return await ask(createClient({ provider, baseUrl, model: "m", idleMs }));
  } finally {
    await player.close();
  }
}

function silence(error: unknown): { kind: string; retry: boolean } {
  assert.ok(error instanceof ChatError, String(error));
  assert.match(error.message, /has sent nothing for/);
  return { kind: error.kind, retry: error.retry };
}

for (const provider of providers) {
  describe(`silence of a server (${provider})`, () => {
    const bytes = recording(`${provider}/plain-text`);
    const body = bodyStart(bytes);

    it("ends a request that is never answered, and it may be tried again", async () => {
      const { error } = await against({ pieces: [], end: "open" }, provider);
      assert.deepEqual(silence(error), { kind: "connection", retry: true });
    });

    it("ends a stream that has headers and nothing else", async () => {
      const { error } = await against({ pieces: [bytes.subarray(0, body)], end: "open" }, provider);
      assert.deepEqual(silence(error), { kind: "connection", retry: true });
    });

    it("ends a stream that stops after words, and it is not tried again by itself", async () => {
      const words = bytes.indexOf("世界");
      const pieces = [bytes.subarray(0, bytes.indexOf("\n\n", words) + 2)];
      const { error, deltas } = await against({ pieces, end: "open" }, provider);
      assert.deepEqual(silence(error), { kind: "connection", retry: false });
      assert.equal(joined(deltas, "text"), "Grüße, 世界 ");
    });

    it("is not broken by a byte now and then", async () => {
      const drip = Array.from(bytes.subarray(body, body + 60), (byte) => Uint8Array.of(byte));
      const pieces = [bytes.subarray(0, body), ...drip];
      const { error } = await against({ pieces, every: 40, end: "open" }, provider);
      silence(error);
    });

    it("is broken by keep-alive comments, for as long as they come", async () => {
      const ping = Buffer.from(": ping\n\n");
      const pieces = [
        bytes.subarray(0, body),
        ...Array<Buffer>(8).fill(ping),
        bytes.subarray(body),
      ];
      const { answer, error } = await against({ pieces, every: 100 }, provider, 400);
      assert.equal(error, undefined);
      assert.equal(answer?.text, "Grüße, 世界 🎉.");
    });
  });

  describe(`cancelling (${provider})`, () => {
    const clientFor = (model: { url: string; origin: string }) =>
      createClient({
        provider,
        baseUrl: provider === "openai" ? model.url : model.origin,
        model: "m",
      });

    it("before anything came ends the request at the server, with the signal's reason", async () => {
      const model = await startScriptedModel([{ before: new Promise(() => {}) }]);
      try {
        const controller = new AbortController();
        const reason = new Error("stop");
        const asked = ask(clientFor(model), requestOf(), controller.signal);
        const request = await model.request(0);
        controller.abort(reason);
        assert.equal((await asked).error, reason);
        assert.equal(await request.closed, "aborted");
      } finally {
        await model.close();
      }
    });

    it("in the middle of words ends the stream at the server", async () => {
      const model = await startScriptedModel([{ text: "many words", hold: new Promise(() => {}) }]);
      try {
        const controller = new AbortController();
        const reason = new Error("stop");
        let shown = "";
        const sending = clientFor(model).send(requestOf(), {
          signal: controller.signal,
          onDelta: ({ text }) => {
            shown += text;
            if (shown === "many words") controller.abort(reason);
          },
        });
        await assert.rejects(sending, (error) => error === reason);
        const request = await model.request(0);
        assert.equal(await request.closed, "aborted");
      } finally {
        await model.close();
      }
    });

    it("before the start sends nothing", async () => {
      const model = await startScriptedModel([{ text: "never" }]);
      try {
        const reason = new Error("stop");
        const { error } = await ask(clientFor(model), requestOf(), AbortSignal.abort(reason));
        assert.equal(error, reason);
        assert.equal(model.requests.length, 0);
      } finally {
        await model.close();
      }
    });

    it("a connection that breaks in mid-call carries nothing out", async () => {
      const model = await startScriptedModel([
        { text: "I run it.", calls: [{ tool: "run", args: { argv: ["x"] } }], end: "destroyed" },
        { raw: [], end: "destroyed" },
      ]);
      try {
        // The first is whole before its socket goes; what is left out must not matter.
        await ask(clientFor(model));
        const { error } = await ask(clientFor(model));
        assert.ok(error instanceof ChatError);
        assert.deepEqual(
          { kind: error.kind, retry: error.retry },
          { kind: "connection", retry: true },
        );
      } finally {
        await model.close();
      }
    });
  });
}
