import { setImmediate } from "node:timers/promises";

/** How long one piece of work may hold the event loop before it lets others in. */
const SLICE_MS = 8;

/** Keeps long work in short pieces: call `rest()` every now and then. */
export class Pace {
  #since = performance.now();

  /** Whether it is time to let others in. */
  get due(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
