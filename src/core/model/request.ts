import { createHash } from "node:crypto";
import type { ChatRequest, Message, ModelCall, Usage } from "./chatClient.js";

/** One part of a transcript that any provider takes: a user's words, or an answer with all its results. */
export type Step =
  | { readonly kind: "user"; readonly text: string }
  | {
      readonly kind: "answer";
      readonly message: Extract<Message, { role: "assistant" }>;
      /** As many as the answer has calls, in their order; never empty text. */
      readonly results: readonly CallResult[];
    };

export interface CallResult {
  readonly call: string;
  readonly ok: boolean;
  readonly text: string;
}

/** What stands for an empty text: no provider takes an empty one. */
export const EMPTY_ANSWER = "(empty answer)";
const EMPTY_OUTPUT = "(no output)";
const EMPTY_ASK = "(empty message)";
const NO_RESULT = "interrupted: there is no result of this call";

/**
 * A transcript as steps that make a valid request whatever the history holds: it begins with the
 * user, each call is followed by exactly one result, nothing is empty. What was a valid prefix
 * stays one, so that providers' caches hold.
 */
export function stepsOf(messages: readonly Message[]): Step[] {
  const results = new Map<string, CallResult>();
  for (const message of messages) {
    if (message.role !== "tool" || results.has(message.call)) continue;
    const text = blank(message.text) ? EMPTY_OUTPUT : message.text;
    results.set(message.call, { call: message.call, ok: message.ok, text });
  }
  const steps: Step[] = [];
  const seen = new Set<string>();
  for (const message of messages) {
    if (message.role === "user") {
      steps.push({ kind: "user", text: blank(message.text) ? EMPTY_ASK : message.text });
    } else if (message.role === "assistant") {
      if (steps.length === 0) steps.push({ kind: "user", text: "(earlier messages are left out)" });
      const calls = message.calls.filter(({ call }) => !seen.has(call) && seen.add(call));
      steps.push({
        kind: "answer",
        message: { ...message, calls },
        results: calls.map(({ call }) => results.get(call) ?? { call, ok: false, text: NO_RESULT }),
      });
    }
  }
  const last = steps.at(-1);
  const open = last === undefined || (last.kind === "answer" && last.results.length === 0);
  if (open) steps.push({ kind: "user", text: "Go on." });
  return steps;
}

function blank(text: string): boolean {
  return text.trim() === "";
}

/** An answer's text as it may be sent, or undefined where there is none. */
export function textOf(message: { readonly text: string }): string | undefined {
  return blank(message.text) ? undefined : message.text;
}

/** Arguments to send again: an object always, since providers parse them. */
export function argsOf(call: ModelCall): Record<string, unknown> {
  return call.args ?? { invalid_json: call.invalid ?? "" };
}

/** A tool's name as every provider takes it, for a model that made one up. */
export function toolName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return clean === "" ? "unknown" : clean;
}

/**
 * A call's id as every provider takes it; one that another provider gave and that does not fit
 * becomes a digest of itself, the same in every request.
 */
export function callId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** Every call id of a transcript: a new answer's calls get none of these. */
export function usedIds(messages: readonly Message[]): Set<string> {
  const used = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.calls) used.add(call.call);
  }
  return used;
}

/** Tokens that a text has at most or so, where no provider says: four characters each. */
export function estimateTokens(...texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);
}

/** What a request and its answer have cost or so, where no provider says. */
export function estimateUsage(
  request: ChatRequest,
  text: string,
  reasoning: string,
  calls: readonly ModelCall[],
): Usage {
  const { system, tools, messages } = request;
  return {
    input: estimateTokens(system, JSON.stringify(tools), JSON.stringify(messages)),
    output: estimateTokens(text, reasoning, calls.length === 0 ? "" : JSON.stringify(calls)),
    estimated: true,
  };
}
