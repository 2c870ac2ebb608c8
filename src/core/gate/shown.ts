import type { EventBody } from "../session/events.js";
import { keyOf } from "./allows.js";
import { allowOf, type Gated } from "./requirement.js";

/** What a card for a read or a command shows beyond what its allow will hold. */
interface Shown {
  /** Of the allow that the card's answer can give. */
  readonly key: string;
  readonly tool: string;
  /** The file of the workspace that would be run. */
  readonly program: string | undefined;
}

function shownBy(event: EventBody): Shown | undefined {
  if (event.type !== "card_raised") return undefined;
  const { kind, path, argv, tool, program } = event;
  if (kind === "read" && path !== undefined) return { key: keyOf({ read: path }), tool, program };
  if (kind === "run" && argv !== undefined) return { key: keyOf({ run: argv }), tool, program };
  return undefined;
}

/**
 * What was seen by those who gave each allow, told by the log's events. A card for `list_dir` shows
 * that the names in a directory are read; a search of the same path reads every file below it. And
 * a card for `git` does not say that a file of the workspace has that name, where it has none yet.
 */
export class ShownAtAllows {
  readonly #raised = new Map<string, Shown>();
  /** For each allow, the cards whose answers gave it, with what they showed. */
  readonly #given = new Map<string, Map<string, Shown>>();

  /** Takes one event of the log into account; those that say nothing about allows are ignored. */
  take(event: EventBody): void {
    switch (event.type) {
      case "turn_started":
        this.#raised.clear();
        return;
      case "card_raised": {
        const shown = shownBy(event);
        if (shown !== undefined) this.#raised.set(event.card, shown);
        return;
      }
      case "card_answered": {
        const shown = this.#raised.get(event.card);
        if (shown === undefined || event.answer !== "allow_session") return;
        const given = this.#given.get(shown.key) ?? new Map<string, Shown>();
        this.#given.set(shown.key, given.set(event.card, shown));
        return;
      }
      case "card_spent":
        for (const given of this.#given.values()) given.delete(event.card);
        return;
      case "allow_revoked":
        this.#given.delete(keyOf(event.allow));
        return;
      default:
        return;
    }
  }

  /** Whether whoever gave the allow for this call saw less than it does by now. */
  isWider(prepared: Gated): boolean {
    const cards = [...(this.#given.get(keyOf(allowOf(prepared)))?.values() ?? [])];
    // One that the session began with was given without a card.
    if (cards.length === 0) return false;
    if (prepared.kind === "run") {
      const { program } = prepared;
      return program !== undefined && cards.every((card) => card.program !== program);
    }
    return prepared.tool === "grep" && cards.every(({ tool }) => tool === "list_dir");
  }
}
