import {
  anthropicPieces,
  openaiPieces,
  type ScriptedAnswer,
  type ScriptedCall,
} from "../support/scriptedModel.js";
import type { Random } from "./random.js";

interface FaultOf {
  readonly random: Random;
  readonly anthropic: boolean;
  readonly call: () => ScriptedCall;
}

const NEVER = new Promise<never>(() => {});

function bytesOf(answer: ScriptedAnswer, anthropic: boolean): Buffer {
  const { first, rest } = (anthropic ? anthropicPieces : openaiPieces)(answer, { next: 1_000 });
  return Buffer.from([...first, ...rest].join(""));
}

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

const errorOf = (message: string, code: string): string =>
  JSON.stringify({ type: "error", error: { type: code, code, message } });

/** How servers and models misbehave, beside the recordings. */
export const FAULTS: Readonly<Record<string, (fault: FaultOf) => ScriptedAnswer>> = {
  "429, at once again": () => ({ status: 429, headers: { "retry-after": "0" } }),
  "429 with a date": () => ({
    status: 429,
    headers: { "retry-after": new Date(Date.now() + 1_000).toUTCString() },
  }),
  overloaded: () => ({ status: 529, body: errorOf("Overloaded", "overloaded_error") }),
  "broken server": () => ({ status: 500, body: "<html>oops</html>" }),
  "wrong key": () => ({ status: 401, body: errorOf("bad key sk-soak-openai", "invalid_api_key") }),
  "context too long": () => ({
    status: 400,
    body: errorOf("prompt is too long: maximum context length", "context_length_exceeded"),
  }),
  "a page": () => ({ status: 200, headers: { "content-type": "text/html" }, raw: ["<html>"] }),
  "silent from the start": () => ({ before: NEVER }),
  "silent after some words": () => ({ text: "I begin", hold: NEVER }),
  "gone after some words": () => ({ raw: ["data: {"], end: "destroyed" }),
  "gone in a call": ({ random, anthropic, call }) => {
    const bytes = bytesOf({ text: "Now.", calls: [call(), call()] }, anthropic);
    return { raw: [bytes.subarray(0, random.below(bytes.length))], end: "destroyed" };
  },
  "ended in a call": ({ random, anthropic, call }) => {
    const bytes = bytesOf({ calls: [call()] }, anthropic);
    return { raw: [bytes.subarray(0, random.below(bytes.length))] };
  },
  "a few bytes at a time": ({ random, anthropic, call }) => ({
    raw: piecesOf(bytesOf({ calls: [call()] }, anthropic), 1 + random.below(40)).slice(0, 2_000),
  }),
  "cut by its limit": ({ call }) => ({ text: "So", calls: [call()], finish: "length" }),
  "an empty answer": () => ({ text: "" }),
  "arguments that are no JSON": () => ({
    calls: [{ tool: "run", args: '{"argv":["sh","-c","echo half' }],
  }),
  "arguments that are no object": ({ random }) => ({
    calls: [{ tool: "run", args: random.pick(['["sh"]', "null", '"sh"', "3"]) }],
  }),
  "arguments of the wrong kind": ({ random }) => ({
    calls: [
      random.pick<ScriptedCall>([
        { tool: "run", args: { argv: "sh -c x" } },
        { tool: "run", args: { argv: [] } },
        { tool: "write_file", args: { path: "files/a.txt" } },
        { tool: "search_replace", args: { path: "files/a.txt", old: "", new: "x" } },
        { tool: "read_file", args: { path: "a\u0000b", offset: -1 } },
      ]),
    ],
  }),
  "a tool that there is not": () => ({ calls: [{ tool: "readFile", args: { path: "x" } }] }),
  "one name for all calls": ({ call }) => ({
    calls: [call(), call(), call()].map((one) => ({ ...one, id: "call_0" })),
  }),
  "calls without a name": ({ call }) => ({ calls: [{ ...call(), id: "" }] }),
  "many calls": ({ call }) => ({ calls: Array.from({ length: 12 }, call) }),
  "too much of a file": () => ({
    calls: [{ tool: "write_file", args: { path: "files/a.txt", content: "x".repeat(300_000) } }],
  }),
  "many words": () => ({ text: "word ".repeat(40_000) }),
  "odd characters": () => ({ text: "\u2028\u0000\ud83d \ufffe é漢😀\u202e", calls: [] }),
  "finish beside another call": ({ call }) => ({
    calls: [{ tool: "finish", args: { result: "done" } }, call()],
  }),
};
