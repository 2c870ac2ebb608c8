import type * as vscode from "vscode";

/** Providers whose servers want keys. */
export type KeyProvider = "openai" | "anthropic";

export interface KeyParts {
  readonly storage: vscode.SecretStorage;
  /** A key came, went or was changed, in this window or another. */
  readonly changed: () => void;
  /** Asks whether to use a key that cannot be stored until the window closes. */
  readonly offer: () => Promise<boolean>;
  /** For the output channel. */
  readonly report: (message: string) => void;
}

/**
 * Keys, in VS Code's SecretStorage and nowhere else. One belongs to the origin it was given for:
 * a base URL that comes to point elsewhere finds none.
 */
export class Keys implements vscode.Disposable {
  /** For a machine without a keyring: keys that live as long as the window. */
  private readonly session = new Map<string, string>();
  private readonly watching: vscode.Disposable;

  constructor(private readonly parts: KeyParts) {
    this.watching = parts.storage.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) parts.changed();
    });
  }

  async get(provider: KeyProvider, origin: string): Promise<string | undefined> {
    const name = nameOf(provider, origin);
    const held = this.session.get(name);
    if (held !== undefined) return held;
    try {
      return await this.parts.storage.get(name);
    } catch {
      // What went wrong is not told: its text is another program's, and a key may be in it.
      this.parts.report(
        `the key for ${origin} could not be read: this machine has no working keyring`,
      );
      return undefined;
    }
  }

  /**
   * Stores a key, or asks whether to keep it for this window alone where there is no keyring.
   * False where the user wanted neither.
   */
  async set(provider: KeyProvider, origin: string, key: string): Promise<boolean> {
    const { storage, offer, changed } = this.parts;
    const name = nameOf(provider, origin);
    try {
      await storage.store(name, key);
      // A storage that takes a key and has none to give has lost it.
      if ((await storage.get(name)) !== key) throw new Error("not kept");
      this.session.delete(name);
    } catch {
      if (!(await offer())) return false;
      this.session.set(name, key);
    }
    changed();
    return true;
  }

  async remove(provider: KeyProvider, origin: string): Promise<void> {
    const { storage, report, changed } = this.parts;
    const name = nameOf(provider, origin);
    this.session.delete(name);
    try {
      await storage.delete(name);
    } catch {
      report(`the key for ${origin} could not be removed: there is no working keyring`);
    }
    changed();
  }

  dispose(): void {
    this.session.clear();
    this.watching.dispose();
  }
}

const PREFIX = "countersign.key.";

function nameOf(provider: KeyProvider, origin: string): string {
  return `${PREFIX}${provider}.${origin}`;
}
