import type { RecordedBody, RecordedMessage } from "../support/scriptedModel.js";

interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
}

function blocksOf(message: RecordedMessage): readonly Block[] {
  return Array.isArray(message.content) ? (message.content as Block[]) : [];
}

function openaiFault(messages: readonly RecordedMessage[]): string | undefined {
  let waiting: string[] = [];
  let before = "";
  for (const [index, message] of messages.entries()) {
    const at = `message ${index} (${message.role})`;
    if (message.role === "tool") {
      if (message.tool_call_id !== waiting.shift()) return `${at} is a result of another call`;
    } else {
      if (waiting.length > 0) return `${at} comes before the result of ${waiting[0]}`;
      if (message.role === before) return `${at} follows one of the same role`;
      const calls = message.tool_calls ?? [];
      if (calls.length === 0 && (message.content ?? "") === "") return `${at} is empty`;
      for (const call of calls) {
        if (call.id === "") return `${at} has a call without a name`;
        JSON.parse(call.function.arguments);
      }
      waiting = calls.map((call) => call.id);
    }
    before = message.role;
  }
  if (waiting.length > 0) return `no result of ${waiting[0]}`;
  return before === "assistant" ? "the model has the last word" : undefined;
}

function anthropicFault(messages: readonly RecordedMessage[]): string | undefined {
  let waiting: string[] = [];
  let before = "assistant";
  for (const [index, message] of messages.entries()) {
    const at = `message ${index} (${message.role})`;
    if (message.role === before) return `${at} follows one of the same role`;
    const blocks = blocksOf(message);
    if (blocks.length === 0 && (message.content ?? "") === "") return `${at} is empty`;
    if (blocks.some((block) => block.type === "text" && block.text?.trim() === "")) {
      return `${at} has an empty text`;
    }
    const results = blocks.flatMap(({ tool_use_id: id }) => (id === undefined ? [] : [id]));
    if (results.join() !== waiting.join()) return `${at} has not the results of the calls before`;
    waiting = blocks.flatMap(({ type, id = "" }) => (type === "tool_use" ? [id] : []));
    if (waiting.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) return `${at} has a bad name of a call`;
    before = message.role;
  }
  if (waiting.length > 0) return `no result of ${waiting[0]}`;
  return before === "assistant" ? "the model has the last word" : undefined;
}

/** What a provider would refuse in this request, or undefined. */
export function wrongOnTheWire(body: RecordedBody): string | undefined {
  const messages = (body.messages ?? []).filter(({ role }) => role !== "system");
  if (messages.length === 0) return "there is no message";
  return body.system === undefined && body.max_tokens === undefined
    ? openaiFault(messages)
    : body.messages?.[0]?.role === "system"
      ? openaiFault(messages)
      : anthropicFault(messages);
}
