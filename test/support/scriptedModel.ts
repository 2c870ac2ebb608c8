import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** One call of a scripted answer. `args` as text goes out as it is: JSON that is none, say. */
export interface ScriptedCall {
  /** Default: `call_1`, `call_2`, … over the life of the server. */
  readonly id?: string;
  readonly tool: string;
  readonly args: Record<string, unknown> | string;
}

/** What the server does with one request. Without `raw` it speaks the protocol that was asked. */
export interface ScriptedAnswer {
  /** Streamed in a few pieces. */
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Default: 100 in, 10 out. Null leaves it out. */
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly cached?: number;
  } | null;
  /** As OpenAI names it; `length` is a cut answer. Default by whether there are calls. */
  readonly finish?: string;
  /** With a status of 400 or more `body` is the error; the default is an OpenAI error object. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The bytes of the body, piece by piece, instead of everything above. */
  readonly raw?: readonly (string | Uint8Array)[];
  /** Between the pieces, in milliseconds. */
  readonly delayBetween?: number;
  /** Nothing is sent before this settles, not even headers. */
  readonly before?: Promise<unknown>;
  /** Held here after the text (or the raw pieces) and before calls and end. */
  readonly hold?: Promise<unknown>;
  /** How it ends: as it should, never (the connection stays open), or with the socket destroyed. */
  readonly end?: "whole" | "never" | "destroyed";
}

/** A request as it came: bytes, and parsed. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: RecordedBody;
  /** Resolves when the client went away or the answer was whole. */
  readonly closed: Promise<"whole" | "aborted">;
}

/** The fields that tests look at; both protocols have them. */
export interface RecordedBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly system?: unknown;
  readonly messages?: readonly RecordedMessage[];
  readonly tools?: readonly unknown[];
  readonly [field: string]: unknown;
}

export interface RecordedMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export type Script =
  | readonly ScriptedAnswer[]
  | ((request: RecordedRequest, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModel {
  /** For an OpenAI client: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** For an Anthropic client: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Chat requests in the order they came; others (a list of models) are not here. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves with the n-th chat request (from 0) as soon as it is there. */
  request(n: number): Promise<RecordedRequest>;
  /** Puts answers behind those of an array script. */
  push(...answers: ScriptedAnswer[]): void;
  close(): Promise<void>;
}

/**
 * A model behind real HTTP on 127.0.0.1 that says what the script says: chat completions
 * (`/v1/chat/completions`) and Anthropic messages (`/v1/messages`), streamed.
 * Beyond the end of an array it answers 400, which no client tries again.
 */
export async function startScriptedModel(
  script: Script,
  options: { readonly port?: number } = {},
): Promise<ScriptedModel> {
  const answers = typeof script === "function" ? [] : [...script];
  const requests: RecordedRequest[] = [];
  const waiting: { n: number; resolve: (request: RecordedRequest) => void }[] = [];
  const ids = { next: 1 };

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString("utf8");
    const path = message.url ?? "/";
    if (message.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
      return;
    }
    const closed = new Promise<"whole" | "aborted">((resolve) => {
      response.on("close", () => resolve(response.writableFinished ? "whole" : "aborted"));
    });
    const request: RecordedRequest = {
      method: message.method ?? "",
      path,
      headers: message.headers,
      raw,
      body: JSON.parse(raw) as RecordedBody,
      closed,
    };
    const n = requests.push(request) - 1;
    for (const waiter of waiting) if (waiter.n === n) waiter.resolve(request);
    const answer =
      typeof script === "function"
        ? await script(request, n)
        : (answers[n] ?? {
            status: 400,
            body: JSON.stringify({ error: { message: `the script has no answer number ${n}` } }),
          });
    await answer.before;
    await send(response, answer, path.includes("/messages") ? anthropicPieces : openaiPieces, ids);
  }

  const server: Server = createServer((message, response) => {
    handle(message, response).catch((error: unknown) => {
      if (!response.headersSent) response.statusCode = 500;
      response.end(`the scripted model failed: ${String(error)}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/v1`,
    origin,
    requests,
    request(n) {
      const there = requests[n];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ n, resolve }));
    },
    push: (...more) => void answers.push(...more),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A body in pieces; what comes before `hold` is apart. */
interface Pieces {
  readonly type: string;
  readonly first: readonly (string | Uint8Array)[];
  readonly rest: readonly (string | Uint8Array)[];
}

async function send(
  response: ServerResponse,
  answer: ScriptedAnswer,
  speak: (answer: ScriptedAnswer, ids: { next: number }) => Pieces,
  ids: { next: number },
): Promise<void> {
  const status = answer.status ?? 200;
  if (status >= 400 && answer.raw === undefined) {
    response.writeHead(status, { "content-type": "application/json", ...answer.headers });
    response.end(
      answer.body ?? JSON.stringify({ error: { message: `scripted status ${status}` } }),
    );
    return;
  }
  const pieces =
    answer.raw === undefined
      ? speak(answer, ids)
      : { type: "text/event-stream", first: answer.raw, rest: [] };
  response.writeHead(status, { "content-type": pieces.type, ...answer.headers });
  response.flushHeaders();
  for (const piece of pieces.first) await write(response, piece, answer.delayBetween);
  await answer.hold;
  for (const piece of pieces.rest) await write(response, piece, answer.delayBetween);
  if (answer.end === "never") return;
  if (answer.end === "destroyed") response.destroy();
  else response.end();
}

/** Writes and waits until it has left, so that pieces travel as pieces. */
async function write(
  response: ServerResponse,
  piece: string | Uint8Array,
  delay: number | undefined,
): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once("close", resolve);
    response.write(piece, () => {
      response.off("close", resolve);
      resolve();
    });
  });
  if (delay !== undefined) await new Promise((resolve) => setTimeout(resolve, delay));
}

function split(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / 4));
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

const argsText = (call: ScriptedCall): string =>
  typeof call.args === "string" ? call.args : JSON.stringify(call.args);

/** An answer as chat completion chunks. */
export function openaiPieces(answer: ScriptedAnswer, ids: { next: number }): Pieces {
  const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
    `data: ${JSON.stringify({
      id: "chatcmpl-scripted",
      object: "chat.completion.chunk",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })}\n\n`;
  const first = [chunk({ role: "assistant", content: "" })];
  for (const piece of split(answer.reasoning ?? ""))
    first.push(chunk({ reasoning_content: piece }));
  for (const piece of split(answer.text ?? "")) first.push(chunk({ content: piece }));
  const rest: string[] = [];
  (answer.calls ?? []).forEach((call, index) => {
    const id = call.id ?? `call_${ids.next++}`;
    const head = { index, id, type: "function", function: { name: call.tool, arguments: "" } };
    rest.push(chunk({ tool_calls: [head] }));
    for (const piece of split(argsText(call))) {
      rest.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  });
  const calls = (answer.calls ?? []).length > 0;
  rest.push(chunk({}, answer.finish ?? (calls ? "tool_calls" : "stop")));
  const usage = answer.usage === undefined ? { input: 100, output: 10 } : answer.usage;
  if (usage !== null) {
    const given = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
    };
    rest.push(chunk({}, null, { choices: [], usage: given }));
  }
  rest.push("data: [DONE]\n\n");
  return { type: "text/event-stream", first, rest };
}

/** An answer as Anthropic message events. */
export function anthropicPieces(answer: ScriptedAnswer, ids: { next: number }): Pieces {
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = answer.usage ?? { input: 100, output: 10 };
  const cached = usage.cached ?? 0;
  const first = [
    event("message_start", {
      message: {
        id: "msg_scripted",
        type: "message",
        role: "assistant",
        model: "scripted",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.input - cached,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: 0,
          output_tokens: 1,
        },
      },
    }),
  ];
  let index = 0;
  const block = (into: string[], start: object, deltas: readonly object[]): void => {
    into.push(event("content_block_start", { index, content_block: start }));
    for (const delta of deltas) into.push(event("content_block_delta", { index, delta }));
    into.push(event("content_block_stop", { index }));
    index += 1;
  };
  if (answer.reasoning !== undefined) {
    block(first, { type: "thinking", thinking: "", signature: "" }, [
      ...split(answer.reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "c2lnbmVk" },
    ]);
  }
  if (answer.text !== undefined) {
    const deltas = split(answer.text).map((text) => ({ type: "text_delta", text }));
    block(first, { type: "text", text: "" }, deltas);
  }
  const rest: string[] = [];
  for (const call of answer.calls ?? []) {
    const id = call.id ?? `call_${ids.next++}`;
    const deltas = split(argsText(call)).map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    block(rest, { type: "tool_use", id, name: call.tool, input: {} }, deltas);
  }
  const calls = (answer.calls ?? []).length > 0;
  const reason = answer.finish === "length" ? "max_tokens" : calls ? "tool_use" : "end_turn";
  rest.push(
    event("message_delta", {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    event("message_stop", {}),
  );
  return { type: "text/event-stream", first, rest };
}
