import * as vscode from "vscode";

/** Providers whose servers want keys. */
export type KeyProvider = "openai" | "anthropic";

/**
 * Keys, in VS Code's SecretStorage and nowhere else. One belongs to the origin it was given for:
 * a base URL that comes to point elsewhere finds none.
 */
export class Keys implements vscode.Disposable {
  /** For a machine without a keyring: keys that live as long as the window. */
  private readonly session = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly watching: vscode.Disposable;

  constructor(
    private readonly storage: vscode.SecretStorage,
    private readonly report: (message: string) => void,
  ) {
    this.watching = storage.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) this.changed.fire();
    });
  }

  async get(provider: KeyProvider, origin: string): Promise<string | undefined> {
    const name = nameOf(provider, origin);
    const held = this.session.get(name);
    if (held !== undefined) return held;
    try {
      return await this.storage.get(name);
    } catch {
      this.report(`the key for ${origin} could not be read: this machine has no working keyring`);
      return undefined;
    }
  }

  /**
   * Stores a key, or asks whether to keep it for this window alone where there is no keyring.
   * False where the user wanted neither.
   */
  async set(provider: KeyProvider, origin: string, key: string): Promise<boolean> {
    const name = nameOf(provider, origin);
    try {
      await this.storage.store(name, key);
      // A storage that takes a key and has none to give has lost it.
      if ((await this.storage.get(name)) !== key) throw new Error("not kept");
      this.session.delete(name);
    } catch {
      const keep = vscode.l10n.t("Use It Until the Window Closes");
      const chosen = await vscode.window.showWarningMessage(
        vscode.l10n.t("The key cannot be stored: this machine has no working keyring."),
        {
          modal: true,
          detail: vscode.l10n.t(
            "Install and unlock one (GNOME Keyring or KWallet) to keep keys. Countersign does not write keys anywhere else.",
          ),
        },
        keep,
      );
      if (chosen !== keep) return false;
      this.session.set(name, key);
    }
    this.changed.fire();
    return true;
  }

  async remove(provider: KeyProvider, origin: string): Promise<void> {
    const name = nameOf(provider, origin);
    this.session.delete(name);
    try {
      await this.storage.delete(name);
    } catch {
      this.report(`the key for ${origin} could not be removed: there is no working keyring`);
    }
    this.changed.fire();
  }

  dispose(): void {
    this.session.clear();
    this.watching.dispose();
    this.changed.dispose();
  }
}

const PREFIX = "countersign.key.";

function nameOf(provider: KeyProvider, origin: string): string {
  return `${PREFIX}${provider}.${origin}`;
}
