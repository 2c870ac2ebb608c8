import * as vscode from "vscode";
import { english } from "../webview/texts.js";

let made: Readonly<Record<string, string>> | undefined;

/** The panel's texts in the user's language. */
export function panelTexts(): Readonly<Record<string, string>> {
  made ??= Object.fromEntries(
    Object.entries(english).map(([key, text]) => [key, vscode.l10n.t(text)]),
  );
  return made;
}
