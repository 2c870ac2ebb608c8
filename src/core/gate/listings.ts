import type { EventBody } from "../session/events.js";
import type { Gated } from "./requirement.js";

/**
 * By which tools each read allow was given, told by the log's events. A card for `list_dir` shows
 * that the names in a directory are read; a search of the same path reads every file below it.
 */
export class Listings {
  readonly #raised = new Map<string, { readonly path: string; readonly tool: string }>();
  /** For each path, the cards whose answers allow it, with the tool that each was for. */
  readonly #given = new Map<string, Map<string, string>>();

  /** Takes one event of the log into account; those that say nothing about reads are ignored. */
  take(event: EventBody): void {
    switch (event.type) {
      case "turn_started":
        this.#raised.clear();
        return;
      case "card_raised":
        if (event.kind === "read" && event.path !== undefined) {
          this.#raised.set(event.card, { path: event.path, tool: event.tool });
        }
        return;
      case "card_answered": {
        const raised = this.#raised.get(event.card);
        if (raised === undefined || event.answer !== "allow_session") return;
        const given = this.#given.get(raised.path) ?? new Map<string, string>();
        this.#given.set(raised.path, given.set(event.card, raised.tool));
        return;
      }
      case "card_spent":
        for (const given of this.#given.values()) given.delete(event.card);
        return;
      case "allow_revoked":
        if ("read" in event.allow) this.#given.delete(event.allow.read);
        return;
      default:
        return;
    }
  }

  /** Whether this is a search of what a person has only ever allowed to be listed. */
  isWider(prepared: Gated): boolean {
    if (prepared.kind !== "read" || prepared.tool !== "grep") return false;
    const tools = [...(this.#given.get(prepared.path.real)?.values() ?? [])];
    return tools.length > 0 && tools.every((tool) => tool === "list_dir");
  }
}
