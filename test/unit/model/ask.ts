import type {
  ChatAnswer,
  ChatClient,
  ChatDelta,
  ChatRequest,
  Message,
} from "../../../src/core/model/chatClient.js";

/** A request with one tool, for tests that look at the answer. */
export function requestOf(...messages: Message[]): ChatRequest {
  return {
    system: "You are an agent.",
    tools: [
      { name: "read_file", description: "Reads.", parameters: { type: "object", properties: {} } },
    ],
    messages: messages.length === 0 ? [{ role: "user", text: "hello" }] : messages,
  };
}

export interface Asked {
  readonly answer: ChatAnswer | undefined;
  readonly error: unknown;
  readonly deltas: readonly ChatDelta[];
}

/** One attempt, and everything that came of it. */
export async function ask(
  client: ChatClient,
  request: ChatRequest = requestOf(),
  signal: AbortSignal = new AbortController().signal,
): Promise<Asked> {
  const deltas: ChatDelta[] = [];
  try {
    const answer = await client.send(request, { signal, onDelta: (delta) => deltas.push(delta) });
    return { answer, error: undefined, deltas };
  } catch (error) {
    return { answer: undefined, error, deltas };
  }
}

/** The deltas of a kind, joined. */
export function joined(deltas: readonly ChatDelta[], type: ChatDelta["type"]): string {
  return deltas.map((delta) => (delta.type === type ? delta.text : "")).join("");
}
