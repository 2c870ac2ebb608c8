import {
  MODEL_ATTEMPTS,
  RETRY_AFTER_LONGEST_MS,
  RETRY_FIRST_MS,
  RETRY_LONGEST_MS,
} from "../limits.js";
import {
  type ChatAnswer,
  type ChatClient,
  type ChatDelta,
  ChatError,
  type ChatRequest,
} from "./chatClient.js";

export interface RetryOptions {
  readonly signal: AbortSignal;
  readonly onDelta: (delta: ChatDelta) => void;
  /** A wait begins: attempt `attempt` (from 2) starts `at` (ISO 8601), because of `reason`. */
  readonly onRetry: (retry: {
    readonly attempt: number;
    readonly at: string;
    readonly reason: string;
  }) => void;
  /** For tests: resolves after `ms`, rejects with the signal's reason. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** For tests: from 0 to less than 1. */
  readonly random?: () => number;
}

/**
 * Sends a request, and again after a wait where the error says that this may help: at most
 * `MODEL_ATTEMPTS` times, never after anything of an answer was delivered. Waits double from
 * `RETRY_FIRST_MS` to `RETRY_LONGEST_MS`, a random quarter of each taken off; what a server asks
 * for is obeyed up to `RETRY_AFTER_LONGEST_MS`. Rejects with the last `ChatError`, or the
 * signal's reason.
 */
export async function sendWithRetry(
  client: ChatClient,
  request: ChatRequest,
  options: RetryOptions,
): Promise<ChatAnswer> {
  const { signal, onDelta, onRetry } = options;
  const sleep = options.sleep ?? wait;
  const random = options.random ?? Math.random;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    let delivered = false;
    try {
      return await client.send(request, {
        signal,
        onDelta(delta) {
          delivered = true;
          onDelta(delta);
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ChatError) || !error.retry || delivered) throw error;
      if (attempt >= MODEL_ATTEMPTS) throw error;
      const asked = error.retryAfter;
      if (asked !== undefined && asked > RETRY_AFTER_LONGEST_MS) throw error;
      const own = Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_LONGEST_MS);
      const ms = Math.max(asked ?? 0, Math.round(own * (1 - random() / 4)));
      const at = new Date(Date.now() + ms).toISOString();
      onRetry({ attempt: attempt + 1, at, reason: error.message });
      await sleep(ms, signal);
    }
  }
}

/** Waits, cancellable. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
