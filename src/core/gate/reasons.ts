import { CARD_BLANKS } from "../limits.js";
import type { LocatedPath } from "../workspace/types.js";
import type { PreparedRun } from "./prepared.js";
import { type Gated, isOfProcesses } from "./requirement.js";
import { hasBidi, visible } from "./visible.js";

/** Names of files that a shell, or what starts a session, runs by itself. */
const PROFILES = new Set([
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".mkshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
  ".xprofile",
  ".xinitrc",
  ".xsession",
  ".envrc",
  "config.fish",
  "bash.bashrc",
  "profile.ps1",
  "microsoft.powershell_profile.ps1",
  "microsoft.vscode_profile.ps1",
]);

/** Folders whose files make a program run something. */
const FOLDERS = new Map([
  [".git", "It is in .git, where hooks and settings make git run commands."],
  [".vscode", "It is in .vscode, where tasks and settings make the editor run commands."],
  [".devcontainer", "It is in .devcontainer, whose settings make the editor run commands."],
  [".ssh", "It is in .ssh, which decides who may log in, and where."],
]);

function segments(path: string): string[] {
  return path.split(/[\\/]+/u).filter((segment) => segment !== "");
}

/**
 * A name as a disk may take it that ignores case: there `.GIT` is `.git`, as is, to a Mac's, one with
 * an invisible character in it, or with the Kelvin sign or a long s for its letter.
 */
function folded(name: string): string {
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase();
}

/** Reasons that lie in where a path leads. */
function pathReasons(path: LocatedPath): string[] {
  const found: string[] = [];
  if (path.kind === "outside") found.push("It is outside the workspace.");
  if (isOfProcesses(path.real)) {
    found.push("It is in /proc, about whatever runs at the moment: it is asked for each time.");
  }
  // Of a path inside, only what is below the root counts: all of the user's work may lie in a `.git`.
  const parts = segments(path.kind === "inside" ? path.relative : path.real);
  const lower = parts.map(folded);
  for (const [name, reason] of FOLDERS) if (lower.includes(name)) found.push(reason);
  const base = lower.at(-1) ?? "";
  const fishStart = base.endsWith(".fish") && lower.includes("conf.d");
  const etc = path.kind === "outside" && lower[0] === "etc";
  const etcProfile = etc && (base === "profile" || lower.includes("profile.d") || base === "zshrc");
  if (PROFILES.has(base) || fishStart || etcProfile) {
    found.push("It is a shell profile: a shell runs it by itself when it starts.");
  }
  if (base.endsWith(".code-workspace")) {
    found.push("It is a workspace file, whose settings make the editor run commands.");
  }
  if (visible(path.real) !== path.real || visible(path.given) !== path.given) {
    found.push("Its path holds hidden characters, shown as ⟦…⟧.");
  }
  return found;
}

function plural(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`;
}

/** Blanks that push the text behind them out of sight, where a window does not break lines. */
const PUSHED = new RegExp(`\\S[ \\t]{${CARD_BLANKS},}(?=\\S)`, "gu");

function pushed(text: string): number {
  return text.match(PUSHED)?.length ?? 0;
}

/** Reasons that lie in a command's arguments. */
function argvReasons({ argv, program }: PreparedRun): string[] {
  const found: string[] = [];
  if (program !== undefined) {
    found.push(`Its program comes with the workspace: PATH gives ${visible(program)}.`);
  }
  const hidden = argv.filter((argument) => visible(argument) !== argument);
  if (hidden.length > 0) {
    const arguments_ = plural(hidden.length, "argument holds", "arguments hold");
    found.push(`${arguments_} hidden characters, shown as ⟦…⟧.`);
  }
  for (const [index, argument] of argv.entries()) {
    const lines = argument.split(/\r\n|[\n\r\u2028\u2029]/u).length;
    if (lines > 1) {
      found.push(`Argument ${index} is ${lines} lines and ${argument.length} characters long.`);
    }
    if (pushed(argument) > 0) {
      found.push(`Argument ${index} goes on behind ${CARD_BLANKS} or more blanks in a row.`);
    }
  }
  return found;
}

/** What a card needs to know of a write beyond its path. */
export interface WriteFacts {
  /** The proposed bytes as text. */
  readonly text: string;
  /** Whether they are valid UTF-8. */
  readonly utf8: boolean;
  /** Whether the editor holds the file with unsaved changes. */
  readonly unsaved: boolean;
}

/** Why a call deserves a second look, a sentence each; empty where nothing stands out. */
export function reasonsOf(prepared: Gated, write?: WriteFacts): string[] {
  if (prepared.kind === "run") return argvReasons(prepared);
  const found = pathReasons(prepared.path);
  if (prepared.kind === "read" || write === undefined) return found;
  const { mode, links, bytes } = prepared.before;
  if (write.unsaved) {
    found.push("The editor holds it with unsaved changes, which are not in this diff.");
  }
  if (mode !== null && (mode & 0o111) !== 0) found.push("It is executable.");
  if (mode !== null && (mode & 0o7000) !== 0) {
    found.push("It has a set-user, set-group or sticky bit.");
  }
  if (mode !== null && (mode & 0o222) === 0) found.push("It is read-only.");
  if (links > 1) {
    const others = plural(links - 1, "other name", "other names");
    found.push(`It has ${others} (hard links), which will keep the old text.`);
  }
  if (bytes !== null && bytes.length > 0 && prepared.after.length === 0) {
    found.push("Everything in it is deleted.");
  }
  if (bytes !== null && Buffer.compare(bytes, prepared.after) === 0) {
    found.push("It has exactly these bytes already.");
  }
  const behind = pushed(write.text);
  if (behind > 0 && behind > pushed(Buffer.from(bytes ?? []).toString("utf8"))) {
    found.push(`A line of it goes on behind ${CARD_BLANKS} or more blanks in a row.`);
  }
  if (!write.utf8) found.push("What is proposed is not all UTF-8; such bytes are shown as ⟦0x…⟧.");
  if (hasBidi(write.text)) {
    found.push(
      "What is proposed holds characters that change the direction of text, shown as ⟦U+…⟧.",
    );
  }
  return found;
}
