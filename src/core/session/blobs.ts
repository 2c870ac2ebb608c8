import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { REPLACED_BYTES } from "../limits.js";
import { explain, flushDirectory } from "./log.js";
import { writeWhole } from "./whole.js";

/** SHA-256 in lower-case hex; anything else would name a file of someone else's choice. */
const DIGEST = /^[0-9a-f]{64}$/;
const SAFELY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * The bytes that a session's writes replaced and left, each once, by their digest:
 * `<session>/blobs/<sha256>`, for its owner alone. What they cost does not grow with their number.
 */
export class Blobs {
  readonly directory: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: string) {
    this.directory = join(session, "blobs");
  }

  /** Takes away what a host that was killed while it kept something has left. */
  async tidy(): Promise<void> {
    await rm(this.#temporary, { force: true });
  }

  /**
   * Keeps `bytes`; they are whole and flushed to disk when this resolves with their digest.
   * Rejects with `LogError` where they cannot be; then what they were to undo must not be done.
   */
  keep(bytes: Uint8Array): Promise<string> {
    // A copy: what someone does to the bytes later is not kept under their digest.
    const own = Uint8Array.from(bytes);
    const kept = this.#last.then(() => this.#keep(own));
    this.#last = kept.catch(() => {});
    return kept;
  }

  /**
   * The bytes of `digest` (at most `REPLACED_BYTES`), or undefined where they are gone or are not
   * those any more: whatever lies there is only taken for what its digest says.
   */
  async read(digest: string): Promise<Uint8Array | undefined> {
    if (!DIGEST.test(digest)) return undefined;
    try {
      const handle = await open(join(this.directory, digest), SAFELY);
      try {
        const stats = await handle.stat();
        if (!stats.isFile() || stats.size > REPLACED_BYTES) return undefined;
        const bytes = await handle.readFile();
        return digestOf(bytes) === digest ? bytes : undefined;
      } finally {
        await handle.close();
      }
    } catch {
      return undefined;
    }
  }

  get #temporary(): string {
    return join(this.directory, "keeping.tmp");
  }

  async #keep(bytes: Uint8Array): Promise<string> {
    const digest = digestOf(bytes);
    if ((await this.read(digest)) !== undefined) return digest;
    const path = join(this.directory, digest);
    try {
      await this.#makeDirectory();
      // One host at a time has the session, so what is left under this name is of one that died.
      await this.tidy();
      await writeWhole(path, this.#temporary, bytes, { flush: true });
      await flushDirectory(this.directory);
      return digest;
    } catch (error) {
      throw explain(error, path);
    }
  }

  async #makeDirectory(): Promise<void> {
    try {
      await mkdir(this.directory, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
      throw error;
    }
    await flushDirectory(dirname(this.directory));
  }
}
