import assert from "node:assert/strict";
import * as z from "../../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";

interface Schema {
  safeParse(value: unknown): { success: boolean; data?: unknown; error?: unknown };
}

/** Method → params and result, for everything that this agent and its clients say. */
const REQUESTS: Readonly<Record<string, readonly [Schema, Schema]>> = {
  initialize: [z.zInitializeRequest, z.zInitializeResponse],
  authenticate: [z.zAuthenticateRequest, z.zAuthenticateResponse],
  "session/new": [z.zNewSessionRequest, z.zNewSessionResponse],
  "session/load": [z.zLoadSessionRequest, z.zLoadSessionResponse],
  "session/list": [z.zListSessionsRequest, z.zListSessionsResponse],
  "session/resume": [z.zResumeSessionRequest, z.zResumeSessionResponse],
  "session/close": [z.zCloseSessionRequest, z.zCloseSessionResponse],
  "session/set_mode": [z.zSetSessionModeRequest, z.zSetSessionModeResponse],
  "session/set_config_option": [
    z.zSetSessionConfigOptionRequest,
    z.zSetSessionConfigOptionResponse,
  ],
  "session/prompt": [z.zPromptRequest, z.zPromptResponse],
  "session/request_permission": [z.zRequestPermissionRequest, z.zRequestPermissionResponse],
};
const NOTIFICATIONS: Readonly<Record<string, Schema>> = {
  "session/update": z.zSessionNotification,
  "session/cancel": z.zCancelNotification,
};

type Message = {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
};

/**
 * Every message of one connection against the SDK's own schemas. Those repair what they can when
 * they read; here a repaired value is a fault, and so is a field that they do not know.
 */
export class Conversation {
  readonly faults: string[] = [];
  /** Every kind of message that went over the wire, as "out session/prompt" and the like. */
  readonly seen = new Set<string>();
  readonly #pending = { out: new Map<unknown, string>(), in: new Map<unknown, string>() };

  /** `out`: from the client to the agent. */
  check(way: "out" | "in", line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.faults.push(`${way}: no JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (message.jsonrpc !== "2.0")
      this.faults.push(`${way}: no JSON-RPC 2.0: ${line.slice(0, 200)}`);
    const back = way === "out" ? "in" : "out";
    if (typeof message.method === "string") {
      if (message.id === undefined) {
        const update = (message.params as { update?: { sessionUpdate?: string } })?.update;
        const kind = update?.sessionUpdate === undefined ? "" : ` ${update.sessionUpdate}`;
        this.seen.add(`${way} ${message.method}${kind}`);
        if (message.method === "$/cancel_request") return;
        this.#fits(NOTIFICATIONS[message.method], message.params, `${way} ${message.method}`);
      } else {
        this.seen.add(`${way} ${message.method}`);
        this.#pending[way].set(message.id, message.method);
        this.#fits(REQUESTS[message.method]?.[0], message.params, `${way} ${message.method}`);
      }
      return;
    }
    const method = this.#pending[back].get(message.id);
    if (method === undefined) {
      this.faults.push(`${way}: a response to nothing: ${line.slice(0, 200)}`);
      return;
    }
    this.#pending[back].delete(message.id);
    this.seen.add(`${way} ${message.error === undefined ? "result" : "error"} of ${method}`);
    if (message.error !== undefined) {
      const error = message.error as { code?: unknown; message?: unknown };
      if (!Number.isInteger(error.code) || typeof error.message !== "string") {
        this.faults.push(`${way}: no JSON-RPC error: ${line.slice(0, 200)}`);
      }
      return;
    }
    this.#fits(REQUESTS[method]?.[1], message.result, `${way} response to ${method}`);
  }

  assertClean(): void {
    assert.deepEqual(this.faults, []);
  }

  #fits(schema: Schema | undefined, value: unknown, what: string): void {
    if (schema === undefined) {
      this.faults.push(`${what}: the stable schema has no such method`);
      return;
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success) this.faults.push(`${what}: ${String(parsed.error)}`);
    else for (const path of lost(value, parsed.data, "")) this.faults.push(`${what}: ${path}`);
  }
}

/** Where `parsed` is not what was sent; what parsing added (defaults) does not count. */
function lost(sent: unknown, parsed: unknown, path: string): string[] {
  if (Array.isArray(sent)) {
    if (!Array.isArray(parsed) || parsed.length !== sent.length) return [`${path}: items lost`];
    return sent.flatMap((item, index) => lost(item, parsed[index], `${path}/${index}`));
  }
  if (typeof sent === "object" && sent !== null) {
    if (typeof parsed !== "object" || parsed === null) return [`${path}: replaced`];
    const fields = parsed as Record<string, unknown>;
    return Object.entries(sent).flatMap(([key, value]) =>
      key in fields ? lost(value, fields[key], `${path}/${key}`) : [`${path}/${key}: not known`],
    );
  }
  return Object.is(sent, parsed) ? [] : [`${path}: ${String(sent)} became ${String(parsed)}`];
}
