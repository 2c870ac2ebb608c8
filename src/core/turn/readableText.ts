/** Pieces of Markdown that no text within can leave, with every hidden character made visible. */
import { visible } from "../gate/visible.js";

function runs(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** `text` as a code block that it cannot end; at most `limit` characters of it, and how much that is. */
export function fence(text: string, limit: number, language = "text"): string {
  let shown = text.slice(0, limit);
  // Half a character is none.
  if (shown.length < text.length && /[\ud800-\udbff]$/.test(shown)) shown = shown.slice(0, -1);
  const safe = visible(shown, { keep: "\n\t" });
  const marks = "`".repeat(Math.max(3, runs(safe) + 1));
  const left = text.length - shown.length;
  const cut =
    left > 0 ? `*${left} more characters are not shown here; an export has them.*\n\n` : "";
  return `${marks}${language}\n${safe}${safe.endsWith("\n") ? "" : "\n"}${marks}\n\n${cut}`;
}

/** `text` on one line, as code that it cannot end. */
export function code(text: string): string {
  const safe = visible(text);
  if (safe === "") return '`""`';
  const marks = "`".repeat(runs(safe) + 1);
  return marks.length === 1 ? `\`${safe}\`` : `${marks} ${safe} ${marks}`;
}

/** A command with every argument apart. */
export function argvCode(argv: readonly string[]): string {
  return argv.map(code).join(" ");
}

/** A time of the log, to the second; one that is none is shown as it is. */
export function time(at: string): string {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(at);
  return found ? `${found[1]} ${found[2]} UTC` : code(at);
}
