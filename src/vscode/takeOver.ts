import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import type * as vscode from "vscode";
import type { Opened, Sessions } from "./sessions.js";

/**
 * A session that another process has is read-only here. Once that lets go, it is opened anew: after a
 * reload of the window, say, whose old extension host takes longer to end than the new one to start.
 */
export class TakeOver implements vscode.Disposable {
  readonly #watchers = new Map<Opened, FSWatcher | undefined>();
  readonly #subscription: vscode.Disposable;

  constructor(
    private readonly sessions: Sessions,
    private readonly report: (message: string) => void,
  ) {
    this.#subscription = sessions.onDidChange(() => this.#reconcile());
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const watcher of this.#watchers.values()) watcher?.close();
    this.#watchers.clear();
  }

  #reconcile(): void {
    const open = new Set(this.sessions.all);
    for (const [opened, watcher] of this.#watchers) {
      if (open.has(opened)) continue;
      watcher?.close();
      this.#watchers.delete(opened);
    }
    for (const opened of open) {
      if (!opened.live.heldElsewhere || this.#watchers.has(opened)) continue;
      this.#watchers.set(opened, undefined);
      this.#watch(opened).catch((error: Error) =>
        this.report(`a session that is held elsewhere is not watched: ${error.message}`),
      );
    }
  }

  async #watch(opened: Opened): Promise<void> {
    const directory = await this.sessions.core.sessionDirectory(opened.live.id);
    if (!this.#watchers.has(opened)) return;
    const look = () => {
      this.#look(opened, directory).catch((error: Error) =>
        this.report(`a session could not be taken over: ${error.message}`),
      );
    };
    const watcher = watch(directory, (_, name) => {
      if (name === null || name.startsWith("lock.")) look();
    });
    watcher.on("error", () => watcher.close());
    this.#watchers.set(opened, watcher);
    // It may have let go before anyone watched.
    look();
  }

  async #look(opened: Opened, directory: string): Promise<void> {
    const held = (await readdir(directory)).some((name) => name.startsWith("lock."));
    if (!held && this.#watchers.has(opened)) await this.sessions.reopen(opened);
  }
}
