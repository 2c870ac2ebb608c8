import type { LogHead } from "./chain.js";
import type { Allow } from "./events.js";
import { LogError } from "./log.js";
import { type Meta, writeMeta } from "./meta.js";
import { allowKey } from "./state.js";
import { titleFrom } from "./title.js";

/** The `meta.json` of an open session: one change after the other, each whole on disk. */
export class MetaFile {
  #meta: Meta;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly directory: string,
    meta: Meta,
    /** Why nothing may be written, or undefined. */
    private readonly refusal: string | undefined,
    /** A line that the log holds; undefined leaves what is known. */
    private readonly head: () => LogHead | undefined,
  ) {
    this.#meta = meta;
  }

  get now(): Meta {
    return this.#meta;
  }

  /** On disk when it resolves; rejects with `LogError`, and then nothing is allowed. */
  async addAllow(allow: Allow): Promise<void> {
    const key = allowKey(allow);
    try {
      await this.change((meta) =>
        meta.allows.some((one) => allowKey(one) === key)
          ? meta
          : { ...meta, allows: [...meta.allows, allow] },
      );
    } catch (error) {
      const message = `Not saved: the allow could not be written to ${this.directory} (${(error as Error).message}).`;
      throw new LogError(message, { cause: error });
    }
  }

  /** Takes an allow out; on disk when it resolves. Rejects with `LogError`. */
  async removeAllow(allow: Allow): Promise<void> {
    const key = allowKey(allow);
    try {
      await this.change((meta) => {
        const allows = meta.allows.filter((one) => allowKey(one) !== key);
        return allows.length < meta.allows.length ? { ...meta, allows } : meta;
      });
    } catch (error) {
      const message = `Not saved: the allow could not be taken out of meta.json in ${this.directory} (${(error as Error).message}).`;
      throw new LogError(message, { cause: error });
    }
  }

  /** Rejects with the error of the disk; then the title is as it was. */
  async rename(title: string): Promise<void> {
    await this.change((meta) => ({ ...meta, title: titleFrom(title), renamed: true }));
  }

  /** One change after the ones before it. Rejects with the error of the disk; then nothing changed. */
  change(change: (meta: Meta) => Meta): Promise<void> {
    const result = this.#writes.then(async () => {
      if (this.refusal !== undefined) throw new LogError(this.refusal);
      const next = change(this.#meta);
      if (next === this.#meta) return;
      const head = this.head();
      const whole = head === undefined ? next : { ...next, head };
      await writeMeta(this.directory, whole);
      this.#meta = whole;
    });
    this.#writes = result.catch(() => {});
    return result;
  }

  /** Resolves when what was asked for so far is done. */
  async settled(): Promise<void> {
    await this.#writes;
  }
}
