import * as vscode from "vscode";

/** A file system in memory of documents that we hand out: no folders, and nothing is made, moved or removed in it. */
export abstract class FlatFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #files = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeFile = this.#files.event;

  protected constructor(scheme: string, isReadonly?: vscode.MarkdownString) {
    this.#registration = vscode.workspace.registerFileSystemProvider(scheme, this, {
      isCaseSensitive: true,
      ...(isReadonly === undefined ? {} : { isReadonly }),
    });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#files.dispose();
  }

  abstract stat(uri: vscode.Uri): vscode.FileStat;
  abstract readFile(uri: vscode.Uri): Uint8Array;

  /** Tells the editors that a document reads otherwise than before. */
  protected changed(uri: vscode.Uri): void {
    this.#files.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  writeFile(uri: vscode.Uri, _content: Uint8Array): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {});
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
