import { type ChatClient, ChatError } from "./chatClient.js";

/** What a test of a model found; `message` is for the user. */
export type ProbeResult =
  | { readonly outcome: "works"; readonly ms: number; readonly message: string }
  | { readonly outcome: "fails"; readonly message: string; readonly error: ChatError };

/**
 * Asks a model for one call of a tool that does nothing. It finds a wrong key, base URL or name,
 * a server that does not run, and a model that cannot use tools. Rejects with the signal's reason.
 */
export async function probe(client: ChatClient, signal: AbortSignal): Promise<ProbeResult> {
  const started = performance.now();
  try {
    const answer = await client.send(
      {
        system: "You are being tested. Call the tool `ready` once, with no other words.",
        tools: [
          {
            name: "ready",
            description: "Says that you are ready.",
            parameters: { type: "object", properties: {}, additionalProperties: false },
          },
        ],
        messages: [{ role: "user", text: "Call the tool `ready` now." }],
      },
      { signal, onDelta: () => {} },
    );
    const ms = Math.round(performance.now() - started);
    const called = answer.calls.some(({ tool }) => tool === "ready");
    return {
      outcome: "works",
      ms,
      message: called
        ? `“${client.model}” works: it answered in ${ms} ms and called a tool.`
        : `“${client.model}” answered in ${ms} ms, but did not call the tool it was asked to. It may not be able to work as an agent.`,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChatError) return { outcome: "fails", message: error.message, error };
    throw error;
  }
}
