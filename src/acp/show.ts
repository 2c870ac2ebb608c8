/**
 * What a client renders is Markdown, and much of it was written by a model or lies in a file.
 * These make it plain: nothing invisible, and nothing that loads a picture from somewhere.
 */
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { visible } from "../core/gate/visible.js";

const LINES = { keep: "\n\t" };

/** `text` with every hidden character made visible; tabs and line breaks stay. */
export function plain(text: string): string {
  return visible(text, LINES);
}

/** Whether `text` holds a character that a reader would not see, a CR included. */
export function hidesSomething(text: string): boolean {
  return plain(text) !== text;
}

/** One line: hidden characters and line breaks shown, and at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const line = visible(text);
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** A command as one line in which every argument can be told from the next. */
export function commandLine(argv: readonly string[]): string {
  return argv
    .map((one) => (/^[\w@%+=:,./-]+$/.test(one) ? one : `'${visible(one).replace(/'/g, "'\\''")}'`))
    .join(" ");
}

/** A code block that its content cannot end, so that Markdown in a file is shown and not rendered. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** A text as a tool call's content. */
export function block(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
