import { randomInt } from "node:crypto";
import type { ModelCall } from "./chatClient.js";

/** A fragment of a call as a stream gave it; anything may be missing. */
export interface CallPiece {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
}

/** Follows JSON as it comes and knows, at a cost of its length alone, whether a value is whole. */
class JsonEnd {
  private depth = 0;
  private inString = false;
  private escaped = false;
  private begun = false;

  feed(text: string): void {
    for (const char of text) {
      if (this.escaped) this.escaped = false;
      else if (this.inString) {
        if (char === "\\") this.escaped = true;
        else if (char === '"') this.inString = false;
      } else if (char === '"') {
        this.inString = true;
        this.begun = true;
      } else if (char === "{" || char === "[") {
        this.depth += 1;
        this.begun = true;
      } else if (char === "}" || char === "]") this.depth -= 1;
    }
  }

  get whole(): boolean {
    return this.begun && this.depth <= 0 && !this.inString;
  }
}

class Slot {
  name = "";
  private readonly pieces: string[] = [];
  private readonly end = new JsonEnd();

  constructor(
    readonly index: number | undefined,
    public id: string,
  ) {}

  add(piece: CallPiece): void {
    if (piece.name !== undefined && piece.name !== "") this.name = joinName(this.name, piece.name);
    if (piece.args !== undefined && piece.args !== "") {
      this.pieces.push(piece.args);
      this.end.feed(piece.args);
    }
  }

  get args(): string {
    return this.pieces.join("");
  }

  /** Whether `piece`, which names a tool, begins another call and does not go on with this one. */
  endsBefore(piece: CallPiece): boolean {
    if (piece.name === undefined || piece.name === "" || this.name === "") return false;
    if (this.pieces.length === 0) return joinsNot(this.name, piece.name);
    if (!this.end.whole) return false;
    // A last piece may repeat id and name and hold nothing; one that has neither id nor index begins.
    const anonymous = (piece.id ?? "") === "" && piece.index === undefined;
    return anonymous || piece.name !== this.name || (piece.args ?? "") !== "";
  }

  get empty(): boolean {
    return this.name === "" && this.pieces.length === 0;
  }
}

/** Names come whole, again with every piece, growing, or in fragments. */
function joinName(have: string, piece: string): string {
  if (have === "" || piece.startsWith(have)) return piece;
  return have.endsWith(piece) ? have : have + piece;
}

/** Two whole names one after the other, and no fragments of one: only a fragment ends in `_`. */
function joinsNot(have: string, piece: string): boolean {
  return !piece.startsWith(have) && !have.endsWith("_") && !piece.startsWith("_");
}

/**
 * Puts the calls of one answer together from fragments, whatever a server does with `index` and
 * `id`: missing, empty, repeated, reused, counted from 1. Calls keep the order they began in.
 */
export class CallAssembler {
  private readonly slots: Slot[] = [];

  /** Whether anything of a call has come. */
  get begun(): boolean {
    return this.slots.some((slot) => !slot.empty);
  }

  /** Returns the number of the call that the piece went to, as in `ids` of `finish`. */
  add(piece: CallPiece): number {
    const slot = this.find(piece);
    if (slot.id === "" && piece.id !== undefined) slot.id = piece.id;
    slot.add(piece);
    return this.slots.indexOf(slot);
  }

  private find(piece: CallPiece): Slot {
    const id = piece.id ?? "";
    const named = (piece.name ?? "") !== "";
    const found =
      piece.index !== undefined
        ? this.last((slot) => slot.index === piece.index)
        : id !== ""
          ? this.last((slot) => slot.id === id)
          : this.slots.at(-1);
    if (found !== undefined) {
      const other = id !== "" && found.id !== "" && found.id !== id;
      if (!other && !found.endsBefore(piece)) return found;
    } else if (id !== "" && !named) {
      // The same call under another index: it goes on by its id.
      const same = this.last((slot) => slot.id === id);
      if (same !== undefined) return same;
    }
    const slot = new Slot(piece.index, id);
    this.slots.push(slot);
    return slot;
  }

  private last(test: (slot: Slot) => boolean): Slot | undefined {
    return this.slots.findLast(test);
  }

  /**
   * The calls, each with an id that no other call of the session has. `cut`: the answer ended at
   * its token limit, so arguments that never came are not taken for none.
   */
  finish(
    used: ReadonlySet<string>,
    cut: boolean,
  ): { readonly calls: ModelCall[]; readonly ids: readonly (string | undefined)[] } {
    const taken = new Set(used);
    const calls: ModelCall[] = [];
    const last = this.slots.findLast((slot) => !slot.empty);
    const ids = this.slots.map((slot) => {
      if (slot.empty) return undefined;
      const call = freshId(slot.id, taken);
      taken.add(call);
      calls.push({ call, tool: slot.name, ...parseArgs(slot.args, cut && slot === last) });
      return call;
    });
    return { calls, ids };
  }
}

const ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** `id` where it is one and is free, else one of ours: nine letters and digits, which every server takes. */
export function freshId(id: string, taken: ReadonlySet<string>): string {
  if (id !== "" && !taken.has(id)) return id;
  for (;;) {
    let own = "";
    for (let at = 0; at < 9; at++) own += ID_ALPHABET.charAt(randomInt(ID_ALPHABET.length));
    if (!taken.has(own)) return own;
  }
}

/** Arguments as they came: none at all is `{}`; what is no JSON object is kept as text. */
export function parseArgs(text: string, cut: boolean): Pick<ModelCall, "args" | "invalid"> {
  if (text.trim() === "") return cut ? { args: null, invalid: text } : { args: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { args: value as Record<string, unknown> };
    }
  } catch {
    // What is no JSON goes back to the model as it came.
  }
  return { args: null, invalid: text };
}
