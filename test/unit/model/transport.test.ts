import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";
import { ChatError } from "../../../src/core/model/chatClient.js";
import { createClient } from "../../../src/core/model/index.js";
import { byNodeHttp } from "../../../src/core/model/nodeHttp.js";
import { byFetch, type Transport } from "../../../src/core/model/transport.js";
import { playRecordings, recording, recordingNames } from "../../support/recordings.js";
import { startScriptedModel } from "../../support/scriptedModel.js";
import { type Asked, ask, requestOf } from "./ask.js";

const transports = { byFetch, byNodeHttp } as const;
const DATE = "Wed, 02 Dec 2099 10:00:00 GMT";

/** What came of an ask, without what is made up anew each time: ids of ours, and the time till a date. */
function comparable({ answer, error, deltas }: Asked): unknown {
  const calls = answer?.calls.map((call) => ({
    ...call,
    call: /^[A-Za-z0-9]{9}$/.test(call.call) ? "own" : call.call,
  }));
  const { kind, message, retry } = error instanceof ChatError ? error : new ChatError("stream", "");
  return { answer: { ...answer, calls }, deltas, error: error && { kind, message, retry } };
}

function clientBy(transport: Transport, provider: "openai" | "anthropic", origin: string) {
  const baseUrl = provider === "openai" ? `${origin}/v1` : origin;
  return createClient({ provider, baseUrl, model: "m", key: "sk-a-key", idleMs: 500 }, transport);
}

describe("the two ways of a request", () => {
  for (const name of recordingNames()) {
    it(`come to the same with ${name}`, async () => {
      const bytes = recording(name, { KEY: "sk-a-key", DATE });
      const player = await playRecordings(() => ({ pieces: [bytes] }));
      try {
        const provider = name.startsWith("openai/") ? "openai" : "anthropic";
        const one = await ask(clientBy(byFetch, provider, player.origin));
        const other = await ask(clientBy(byNodeHttp, provider, player.origin));
        assert.deepEqual(comparable(other), comparable(one));
      } finally {
        await player.close();
      }
    });
  }

  it("send the same bytes, key and protocol, and of themselves nothing that tells of the user", async () => {
    const model = await startScriptedModel([
      { text: "a" },
      { text: "b" },
      { text: "c" },
      { text: "d" },
    ]);
    try {
      for (const provider of ["openai", "anthropic"] as const) {
        for (const transport of Object.values(transports)) {
          const { error } = await ask(clientBy(transport, provider, model.origin));
          assert.equal(error, undefined);
        }
      }
      const own = /^(host|connection|content-length|accept-(encoding|language)|sec-fetch-mode)$/;
      const sent = model.requests.map(({ raw, headers, path, method }) => ({
        raw,
        path,
        method,
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.test(name))),
      }));
      assert.deepEqual(sent[1], sent[0]);
      assert.deepEqual(sent[3], sent[2]);
      assert.deepEqual(sent[1]?.headers, {
        accept: "application/json",
        authorization: "Bearer sk-a-key",
        "content-type": "application/json",
        "user-agent": "Countersign",
      });
      assert.deepEqual(sent[3]?.headers, {
        accept: "application/json",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "user-agent": "Countersign",
        "x-api-key": "sk-a-key",
      });
    } finally {
      await model.close();
    }
  });
});

/** A server whose answers are a function's; `connections` counts them. */
async function serve(answer: (response: ServerResponse, n: number) => void) {
  let n = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(response, n++));
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

for (const [name, transport] of Object.entries(transports)) {
  describe(`a request ${name}`, () => {
    it("reads a compressed answer as it comes", async () => {
      let goOn = () => {};
      const server = await serve((response) => {
        response.writeHead(200, {
          "content-type": "text/event-stream",
          "content-encoding": "gzip",
        });
        const zip = createGzip();
        zip.pipe(response);
        zip.write(chunk("first "));
        zip.flush();
        goOn = () => zip.end(`${chunk("second")}data: [DONE]\n\n`);
      });
      try {
        // The second piece is sent once the first has been shown.
        const shown: string[] = [];
        const client = clientBy(transport, "openai", server.origin);
        const answer = await client.send(requestOf(), {
          signal: new AbortController().signal,
          onDelta: (delta) => {
            if (delta.type === "text" && shown.push(delta.text) === 1) goOn();
          },
        });
        assert.deepEqual([answer.text, shown], ["first second", ["first ", "second"]]);
      } finally {
        await server.close();
      }
    });

    it("ends at the server too when it is cancelled, before its answer and in it", async () => {
      for (const begins of [false, true]) {
        const abort = new AbortController();
        let end = () => {};
        const ended = new Promise<void>((resolve) => {
          end = resolve;
        });
        const server = await serve((response) => {
          response.on("close", () => end());
          if (begins) {
            response.writeHead(200, { "content-type": "text/event-stream" });
            response.write(chunk("half an "));
          } else abort.abort(new Error("enough"));
        });
        try {
          const sending = clientBy(transport, "openai", server.origin).send(requestOf(), {
            signal: abort.signal,
            onDelta: () => abort.abort(new Error("enough")),
          });
          await assert.rejects(sending, /enough/);
          await ended;
        } finally {
          await server.close();
        }
      }
    });
  });
}

describe("a request", () => {
  it("by Node's own client goes over the connection of the one before", async () => {
    const server = await serve((response) => {
      response.setHeader("content-type", "text/event-stream");
      response.end(`${chunk("hello")}data: [DONE]\n\n`);
    });
    try {
      const client = clientBy(byNodeHttp, "openai", server.origin);
      for (let time = 0; time < 5; time++) {
        assert.equal((await ask(client)).answer?.text, "hello");
      }
      assert.equal(server.connections, 1);
    } finally {
      await server.close();
    }
  });
});
