import type { Allow, EventBody } from "../session/events.js";

/** An allow of the session, as a person sees it. */
export interface AllowUse {
  readonly allow: Allow;
  /** How often a call went through by it. */
  readonly used: number;
}

/** One string for an allow: equal allows have equal keys, others never. */
export function keyOf(allow: Allow): string {
  if ("write" in allow) return JSON.stringify(["write", allow.write]);
  if ("read" in allow) return JSON.stringify(["read", allow.read]);
  return JSON.stringify(["run", ...allow.run]);
}

/** How often each allow was used, told by the log's events. */
export class AllowUses {
  readonly #uses = new Map<string, { used: number; call: string }>();

  /** Takes one event of the log into account; those that say nothing about allows are ignored. */
  count(event: EventBody): void {
    if (event.type === "allow_revoked") {
      this.#uses.delete(keyOf(event.allow));
      return;
    }
    if (event.type !== "call_started" || event.allow === undefined) return;
    const key = keyOf(event.allow);
    const known = this.#uses.get(key);
    // A call that found its file changed at the last moment starts again: that is one use.
    if (known?.call === event.call) return;
    this.#uses.set(key, { used: (known?.used ?? 0) + 1, call: event.call });
  }

  of(allow: Allow): number {
    return this.#uses.get(keyOf(allow))?.used ?? 0;
  }
}
