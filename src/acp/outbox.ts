import type { SessionUpdate } from "@agentclientprotocol/sdk";

/** Updates that may wait for a slow reader before those of one call are merged. */
const BACKLOG = 64;

type Item =
  | { readonly kind: "update"; update: SessionUpdate; readonly key?: string | undefined }
  | { readonly kind: "after"; readonly run: () => void };

/**
 * What a session tells its client, in order and one at a time: the next goes out when the one
 * before has left. While a reader is slow the pieces of a message become one piece, a command's
 * output is its latest state, and what is known of a call is merged, so memory stays bounded.
 */
export class Outbox {
  readonly #items: Item[] = [];
  #pumping: Promise<void> | undefined;
  #closed = false;

  constructor(private readonly send: (update: SessionUpdate) => Promise<void>) {}

  /** With a `key`, takes the place of a waiting update of that key. */
  push(update: SessionUpdate, key?: string): void {
    if (this.#closed) return;
    if (!this.#merge(update, key)) this.#items.push({ kind: "update", update, key });
    this.#start();
  }

  /** Runs `run` when all that was pushed before has left. */
  after(run: () => void): void {
    if (this.#closed) return;
    this.#items.push({ kind: "after", run });
    this.#start();
  }

  /** Resolves when all that was pushed before has left, or the client is gone. */
  flushed(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.after(resolve));
  }

  /** Forgets waiting updates of `key`. */
  drop(key: string): void {
    const at = this.#items.findIndex((item) => item.kind === "update" && item.key === key);
    if (at !== -1) this.#items.splice(at, 1);
  }

  /** The client is gone: what waits is dropped, and whoever waits for it goes on. */
  close(): void {
    this.#closed = true;
    for (const item of this.#items.splice(0)) if (item.kind === "after") item.run();
  }

  #start(): void {
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined;
      if (this.#items.length > 0) this.#start();
    });
  }

  async #pump(): Promise<void> {
    // Yields once, so that what one event brings is queued together.
    await Promise.resolve();
    for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
      if (item.kind === "after") {
        item.run();
        continue;
      }
      try {
        await this.send(item.update);
      } catch {
        this.close();
      }
    }
  }

  #merge(update: SessionUpdate, key: string | undefined): boolean {
    const last = this.#items.at(-1);
    if (last?.kind === "update") {
      const joined = joinText(last.update, update);
      if (joined !== undefined) {
        last.update = joined;
        return true;
      }
    }
    if (key !== undefined) {
      const same = this.#items.find((item) => item.kind === "update" && item.key === key);
      if (same?.kind === "update") {
        same.update = update;
        return true;
      }
    }
    if (this.#items.length < BACKLOG || update.sessionUpdate !== "tool_call_update") return false;
    // Nothing moves past an `after`: a question must not overtake what it is about.
    const oldest = Math.max(0, this.#items.length - 4 * BACKLOG);
    for (let at = this.#items.length - 1; at >= oldest; at--) {
      const item = this.#items[at];
      if (item === undefined || item.kind === "after") return false;
      const waiting = item.update;
      if (
        (waiting.sessionUpdate === "tool_call" || waiting.sessionUpdate === "tool_call_update") &&
        waiting.toolCallId === update.toolCallId
      ) {
        const { sessionUpdate: _, ...fields } = update;
        item.update = Object.assign({ ...waiting }, fields) as SessionUpdate;
        return true;
      }
    }
    return false;
  }
}

/** Two pieces of one message as one, or undefined where they are not. */
function joinText(first: SessionUpdate, second: SessionUpdate): SessionUpdate | undefined {
  if (
    first.sessionUpdate !== "agent_message_chunk" &&
    first.sessionUpdate !== "agent_thought_chunk"
  )
    return undefined;
  if (second.sessionUpdate !== first.sessionUpdate || second.messageId !== first.messageId)
    return undefined;
  if (first.content.type !== "text" || second.content.type !== "text") return undefined;
  return { ...first, content: { type: "text", text: first.content.text + second.content.text } };
}
