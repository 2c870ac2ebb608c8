import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Events of one file come in bursts; one look in this many milliseconds is enough. */
const SETTLE_MS = 100;

interface Watched {
  watcher?: FSWatcher;
  timer?: NodeJS.Timeout | undefined;
}

/**
 * Tells when the file under an open card may have changed, so that the card can say so before it
 * is answered. Only a hint: the answer is checked against the disk whether or not this noticed.
 */
export class FileWatch {
  readonly #watched = new Map<string, Watched>();

  constructor(private readonly changed: (path: string) => void) {}

  /** Watches `path` (absolute) for the card `id`. */
  add(id: string, path: string): void {
    this.remove(id);
    const entry: Watched = {};
    const look = (): void => {
      entry.timer ??= setTimeout(() => {
        entry.timer = undefined;
        this.changed(path);
      }, SETTLE_MS);
    };
    try {
      // The directory and not the file: a file that is replaced or made would be missed.
      entry.watcher = watch(dirname(path), { persistent: false }, look);
      entry.watcher.on("error", () => this.remove(id));
    } catch {
      // No such directory yet, or too many watches.
    }
    this.#watched.set(id, entry);
  }

  remove(id: string): void {
    const entry = this.#watched.get(id);
    this.#watched.delete(id);
    clearTimeout(entry?.timer);
    entry?.watcher?.close();
  }

  close(): void {
    for (const id of [...this.#watched.keys()]) this.remove(id);
  }
}
