import type { Log } from "./logs.js";

/** How often each thing happened. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** What the logs of a whole run say. */
  addLogs(logs: readonly Log[]): void {
    this.add("runs");
    this.add("sessions", logs.length);
    for (const { events } of logs) {
      this.add("events", events.length);
      for (const event of events) {
        if (event.type === "turn_started") this.add("turns");
        if (event.type === "turn_ended") this.add(`turn: ${event.reason}`);
        if (event.type === "model_answered") {
          for (const { tool } of event.calls) this.add(`call: ${tool.slice(0, 20)}`);
          this.add("calls", event.calls.length);
        }
        if (event.type === "card_raised") this.add(`card: ${event.kind}`);
        if (event.type === "card_answered") this.add(`answer: ${event.answer}`);
        if (event.type === "card_spent") this.add("answer: spent");
        if (event.type === "card_withdrawn") this.add("card: withdrawn");
        if (event.type === "call_started") this.add(`effect by ${event.by}`);
        if (event.type === "call_ended" && event.result.startsWith("interrupted")) {
          this.add("effect: interrupted");
        }
        if (event.type === "hook_ended") this.add(`hook: ${event.fault ?? `exit ${event.exit}`}`);
      }
    }
  }

  get kills(): number {
    return ["at a time", "in the write of a file", "in the write of its log"].reduce(
      (sum, when) => sum + this.of(`killed ${when}`),
      0,
    );
  }

  /** Everything, the sums first and then each kind, a line each. */
  report(): string {
    const first = ["runs", "rounds", "sessions", "turns", "calls", "events", "requests"];
    const sums = [...first.map((what) => `${this.of(what)} ${what}`), `${this.kills} kills`];
    const rest = [...this.#counts].filter(([what]) => !first.includes(what)).sort();
    return [sums.join(", "), ...rest.map(([what, times]) => `  ${what}: ${times}`)].join("\n");
  }
}
