import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { DELTA_BATCH_MS } from "../core/limits.js";
import type { Outbox } from "./outbox.js";

/** The live output of commands: a flood of it becomes a look at its end, every so often. */
export class Outputs {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly outbox: Outbox,
    /** How a call's output reads now, as an update. */
    private readonly update: (call: string) => SessionUpdate | undefined,
  ) {}

  /** Tells of a call's output within `DELTA_BATCH_MS`. */
  soon(call: string): void {
    if (this.#timers.has(call)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(call);
      const update = this.update(call);
      if (update !== undefined) this.outbox.push(update, `output:${call}`);
    }, DELTA_BATCH_MS);
    this.#timers.set(call, timer);
  }

  /** The call has its result, which has the output too. */
  stop(call: string): void {
    clearTimeout(this.#timers.get(call));
    this.#timers.delete(call);
    this.outbox.drop(`output:${call}`);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
