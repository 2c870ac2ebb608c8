/** A stream of numbers that follows from its seed alone. */
export class Random {
  #state: number;
  constructor(...seed: readonly (number | string)[]) {
    let hash = 2_166_136_261;
    for (const character of seed.join("/")) {
      hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619);
    }
    this.#state = hash >>> 0;
  }

  /** From 0 to less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to less than `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }
}
