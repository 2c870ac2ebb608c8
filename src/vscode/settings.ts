import * as vscode from "vscode";
import type { CoreSettings, StopHook } from "../core/turn/live.js";
import { settings } from "./ids.js";

/** The shell's settings, read anew at each use and taken with care: a user can type anything. */
function stopHooks(): StopHook[] {
  const value: unknown = vscode.workspace.getConfiguration().get(settings.stopHooks);
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): StopHook[] => {
    const argv: unknown = field(entry, "argv");
    const timeout: unknown = field(entry, "timeout");
    if (!Array.isArray(argv) || argv.length === 0) return [];
    if (!argv.every((argument): argument is string => typeof argument === "string")) return [];
    return [typeof timeout === "number" && timeout > 0 ? { argv, timeout } : { argv }];
  });
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** What the core obeys of the settings, as they are now. */
export function coreSettings(): CoreSettings {
  return { stopHooks: stopHooks(), trusted: vscode.workspace.isTrusted };
}

/** Where the user says ripgrep is, or undefined. */
export function ripgrepSetting(): string | undefined {
  const path = vscode.workspace.getConfiguration().get<string>(settings.ripgrepPath);
  return path ? path : undefined;
}

/** Whether a native diff opens by itself when a write card goes up. */
export function opensDiff(): boolean {
  return vscode.workspace.getConfiguration().get<boolean>(settings.openDiff, true);
}

/** Whether a card that waits is told of while the window has no focus. */
export function notifies(): boolean {
  return vscode.workspace.getConfiguration().get<boolean>(settings.notify, true);
}
