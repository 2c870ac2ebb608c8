import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ANSWER_BYTES, OLLAMA_BYTES, STREAM_EVENT_BYTES } from "../../../src/core/limits.js";
import { ChatError } from "../../../src/core/model/chatClient.js";
import { Exchange } from "../../../src/core/model/exchange.js";
import { createClient } from "../../../src/core/model/index.js";
import { byNodeHttp } from "../../../src/core/model/nodeHttp.js";
import { findOllama } from "../../../src/core/model/ollama.js";
import { EventReader, EventTooLong } from "../../../src/core/model/sse.js";
import { byFetch } from "../../../src/core/model/transport.js";
import { ask, joined } from "./ask.js";

const KEY = "sk-canary-0123456789abcdefghijklmnop";
type Answers = (request: IncomingMessage, response: ServerResponse) => void;

/** Runs `work` with a server that answers so; gives what it was asked. */
async function serve(answers: Answers, work: (origin: string) => Promise<void>): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    answers(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return asked;
}

function client(provider: "openai" | "anthropic", origin: string, transport = byFetch) {
  return createClient({ provider, baseUrl: origin, model: "m", key: KEY }, transport);
}

/** Sends `body` as often as it takes to make `bytes`, at the reader's pace, and what `end` gives. */
function flood(response: ServerResponse, body: string, bytes: number, end: string): void {
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      const piece = body.length <= left ? body : body.slice(0, left);
      left -= piece.length;
      if (!response.write(piece)) {
        response.once("drain", more);
        return;
      }
    }
    response.end(end);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  more();
}

describe("a server that means harm", () => {
  describe("and sends without end", () => {
    const END = `data: {"choices":[{"delta":{"content":"done"},"finish_reason":"stop"}]}\n\n`;
    const KEEP_ALIVE = `: ${"x".repeat(64 * 1024 - 4)}\n\n`;

    for (const [name, transport] of Object.entries({ byFetch, byNodeHttp })) {
      it(`is left at the limit of an answer, once (${name})`, async () => {
        const asked = await serve(
          (_, response) => flood(response, KEEP_ALIVE, ANSWER_BYTES + 64 * 1024, END),
          async (origin) => {
            const { error } = await ask(client("openai", origin, transport));
            assert.ok(error instanceof ChatError);
            assert.equal(error.kind, "stream");
            assert.equal(error.retry, false);
            assert.match(error.message, /sent more than an answer can have/);
          },
        );
        assert.equal(asked.length, 1);
      });
    }

    it("is left soon where nobody but the search for Ollama asked it", async () => {
      let sent = 0;
      await serve(
        (_, response) => {
          const piece = " ".repeat(64 * 1024);
          const more = (): void => {
            while (!response.destroyed) {
              sent += piece.length;
              if (response.write(piece)) continue;
              response.once("drain", more);
              return;
            }
          };
          response.writeHead(200, { "content-type": "application/json" });
          more();
        },
        async (origin) => {
          assert.equal(await findOllama({ url: origin }), undefined);
        },
      );
      // What is in the buffers of the two ends by then comes on top.
      assert.ok(sent < OLLAMA_BYTES + 16 * 1024 * 1024, `${sent} bytes`);
    });

    it("is heard to the end where Ollama says much about its models, up to a limit", async () => {
      const names = (bytes: number) => {
        const text = JSON.stringify({ models: [{ name: "a" }] });
        return `${text}${" ".repeat(bytes - text.length)}`;
      };
      for (const bytes of [OLLAMA_BYTES, OLLAMA_BYTES + 1]) {
        await serve(
          (_, response) => response.end(names(bytes)),
          async (origin) => {
            const found = await findOllama({ url: origin, timeoutMs: 10_000 });
            assert.equal(found?.models[0]?.name, bytes === OLLAMA_BYTES ? "a" : undefined);
          },
        );
      }
    });

    it("is heard to the end just under it", async () => {
      await serve(
        (_, response) => {
          const last = `:${"x".repeat(KEEP_ALIVE.length - END.length - 3)}\n\n${END}`;
          flood(response, KEEP_ALIVE, ANSWER_BYTES - last.length, last);
        },
        async (origin) => {
          const { answer } = await ask(client("openai", origin));
          assert.equal(answer?.text, "done");
        },
      );
    });

    for (const [what, piece] of [
      ["lines of data and never the end of an event", `data: ${"y".repeat(1_017)}\n`],
      ["empty lines of data", "data:\n"],
      ["one line", "y".repeat(1_024)],
    ] as const) {
      it(`is left at the limit of an event: ${what}`, () => {
        const reader = new EventReader();
        const bytes = Buffer.from(piece.repeat(1_024));
        assert.throws(() => {
          // What such a stream keeps in memory is at most what it sent, in a few bytes more a line.
          for (let sent = 0; sent <= 2 * STREAM_EVENT_BYTES; sent += bytes.length)
            reader.push(bytes);
        }, EventTooLong);
      });
    }

    it("may send an event of just the limit, and another after it", () => {
      const reader = new EventReader();
      const data = `data:${"z".repeat(STREAM_EVENT_BYTES - 8)}\n`;
      for (let n = 0; n < 2; n++) {
        const before = reader.push(Buffer.from(data));
        const { events } = reader.push(Buffer.from("\n"));
        assert.deepEqual(before.events, []);
        assert.deepEqual(
          events.map((event) => event.data.length),
          [STREAM_EVENT_BYTES - 8],
        );
      }
      assert.throws(() => reader.push(Buffer.from(`data:z${data.slice(5)}`)), EventTooLong);
    });
  });

  describe("and gives the key back", () => {
    const cut = (at: number) => `${"x".repeat(at - 20)} ${KEY}`;
    const answers: Readonly<Record<string, Answers>> = {
      "in the address it redirects to": (_, response) => {
        response.writeHead(307, { location: `/login/${KEY}/${encodeURIComponent(KEY)}` }).end();
      },
      "where its words are cut": (_, response) => {
        // Keys before it shrink to a sign each, so that the cut one moves into what is shown.
        const text = `${`${KEY} `.repeat(200)}`;
        response.writeHead(400).end(text);
      },
      "in JSON that is no answer, cut": (_, response) => {
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify([cut(200), cut(199), 1]));
      },
      "in an error without a message, cut": (_, response) => {
        response.writeHead(400).end(JSON.stringify({ error: { keys: Array(200).fill(KEY) } }));
      },
    };
    for (const [where, answer] of Object.entries(answers)) {
      it(`has no part of it in the error: ${where}`, async () => {
        for (const provider of ["openai", "anthropic"] as const) {
          await serve(answer, async (origin) => {
            const { error } = await ask(client(provider, origin));
            assert.ok(error instanceof ChatError);
            assert.equal(error.message.includes(KEY.slice(0, 6)), false, error.message);
          });
        }
      });
    }
  });

  describe("and gives back what else is secret", () => {
    const TOKEN = "tok-canary-9f8e7d6c";
    const QUERY = "query-canary-5a4b3c2d";

    for (const provider of ["openai", "anthropic"] as const) {
      it(`has neither the base URL's query nor the bare token of a header in the error (${provider})`, async () => {
        const asked = await serve(
          (request, response) => {
            const token = String(request.headers.authorization).replace("Bearer ", "");
            response.writeHead(400).end(`${token} was sent to ${request.url}`);
          },
          async (origin) => {
            const { error } = await ask(
              createClient({
                provider,
                baseUrl: `${origin}?code=${QUERY}`,
                model: "m",
                headers: { Authorization: `Bearer ${TOKEN}` },
              }),
            );
            assert.ok(error instanceof ChatError);
            assert.match(error.message, /… was sent to/);
            assert.doesNotMatch(error.message, /canary/);
          },
        );
        // They did go to the server: it is its words that are cleaned.
        assert.match(asked[0] ?? "", new RegExp(QUERY));
      });
    }
  });

  it("and is another than the one that was set gets nothing", async () => {
    const asked = await serve(
      (_, response) => response.end("{}"),
      async (origin) => {
        const exchange = new Exchange({
          context: { server: "http://127.0.0.1:1", model: "m", secrets: [KEY] },
          origin: "http://127.0.0.1:1",
          headers: { authorization: `Bearer ${KEY}` },
          signal: new AbortController().signal,
          idleMs: 1_000,
        });
        await assert.rejects(exchange.fetch(new URL(`${origin}/v1/models`)), /was stopped/);
        exchange.dispose();
      },
    );
    assert.deepEqual(asked, []);
  });

  it("and redirects the search for Ollama leads it nowhere", async () => {
    const models = JSON.stringify({ models: [{ name: "theirs" }] });
    const elsewhere = await serve(
      (_, response) => response.end(models),
      async (other) => {
        await serve(
          (request, response) =>
            response.writeHead(307, { location: `${other}${request.url}` }).end(),
          async (origin) => {
            assert.equal(await findOllama({ url: origin }), undefined);
          },
        );
      },
    );
    assert.deepEqual(elsewhere, []);
  });

  describe("and asks for the same again in the middle of its answer", () => {
    const streams = {
      openai: [
        `data: {"choices":[{"delta":{"content":"half "}}]}`,
        `data: {"error":{"code":400,"message":"stream_options is not supported"}}`,
      ],
      anthropic: [
        `event: message_start\ndata: {"type":"message_start","message":{}}`,
        `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half "}}`,
        `event: error\ndata: {"type":"error","error":{"code":400,"message":"cache_control is not supported"}}`,
      ],
    };
    for (const provider of ["openai", "anthropic"] as const) {
      it(`is not asked: what came was delivered (${provider})`, async () => {
        const asked = await serve(
          (_, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" });
            response.end(`${streams[provider].join("\n\n")}\n\n`);
          },
          async (origin) => {
            const { error, deltas } = await ask(client(provider, origin));
            assert.ok(error instanceof ChatError);
            assert.equal(error.retry, false);
            assert.equal(joined(deltas, "text"), "half ");
          },
        );
        assert.equal(asked.length, 1);
      });
    }
  });
});
