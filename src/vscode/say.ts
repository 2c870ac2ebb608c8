import * as vscode from "vscode";
import { notice } from "./plain.js";

/*
 * The only way to a notification: what others wrote is in most of them, and a link in one acts.
 */

/** A button's title, or undefined where the user left it. */
type Picked = Thenable<string | undefined>;

/** Something that went as asked. */
export function inform(message: string, ...buttons: string[]): Picked {
  return vscode.window.showInformationMessage(notice(message), ...buttons);
}

/** Something that the user has to know or decide. */
export function warn(message: string, ...buttons: string[]): Picked {
  return vscode.window.showWarningMessage(notice(message), ...buttons);
}

/** Something that did not work; the message says what to do. */
export function fail(message: string): Picked {
  return vscode.window.showErrorMessage(notice(message));
}

/** A dialog that waits; `detail` stands under the message. */
export function informModal(message: string, detail: string, ...buttons: string[]): Picked {
  return vscode.window.showInformationMessage(
    notice(message),
    { modal: true, detail: notice(detail) },
    ...buttons,
  );
}

/** A dialog that waits; `detail` stands under the message. */
export function warnModal(message: string, detail: string, ...buttons: string[]): Picked {
  return vscode.window.showWarningMessage(
    notice(message),
    { modal: true, ...(detail === "" ? {} : { detail: notice(detail) }) },
    ...buttons,
  );
}
