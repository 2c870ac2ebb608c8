import type { LocatedPath } from "./types.js";

/** What one call is allowed to do, to the byte. */
export type Effect =
  | { readonly kind: "read"; readonly call: string; readonly path: LocatedPath }
  | {
      readonly kind: "write";
      readonly call: string;
      readonly path: LocatedPath;
      /** SHA-256 (hex) of the bytes that must still be on disk; null: there must be no file. */
      readonly before: string | null;
      /** SHA-256 (hex) of the bytes that may be written. */
      readonly after: string;
      /** For the name of the temporary file: see `markOf`. */
      readonly mark: string;
      /** Permission bits that a new file gets, where it had some before; 0666 less umask else. */
      readonly mode?: number;
    }
  | {
      readonly kind: "remove";
      readonly call: string;
      readonly path: LocatedPath;
      /** SHA-256 (hex) of the bytes that must still be on disk. */
      readonly before: string;
    }
  | {
      readonly kind: "run";
      readonly call: string;
      readonly argv: readonly string[];
      /** Whole seconds. */
      readonly timeout: number;
    };

/** The effects of one kind. */
export type EffectOf<K extends Effect["kind"]> = Extract<Effect, { kind: K }>;

const issuer = Symbol("issuer");

/**
 * The right to one effect, once. Every function that touches the user's files or starts a process
 * takes one. Only `gate/gate.ts` may import `issuePermit` (a test holds this).
 */
export class Permit<K extends Effect["kind"] = Effect["kind"]> {
  #spent = false;
  constructor(
    token: typeof issuer,
    private readonly effect: EffectOf<K>,
  ) {
    if (token !== issuer) throw new Error("permits are made by the gate");
  }

  /** The effect without spending it, for checks before the effect. */
  get allows(): EffectOf<K> {
    return this.effect;
  }

  /** Takes the effect; a second time is a bug and throws. */
  spend(): EffectOf<K> {
    if (this.#spent) throw new Error(`the permit of call ${this.effect.call} is spent`);
    this.#spent = true;
    return this.effect;
  }
}

/** For `gate/gate.ts` alone. */
export function issuePermit<K extends Effect["kind"]>(effect: EffectOf<K>): Permit<K> {
  const copy = { ...effect };
  Object.freeze(copy);
  return new Permit<K>(issuer, copy);
}
