import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Allow } from "../core/session/events.js";
import type { LiveSession } from "../core/turn/live.js";
import { commandLine, oneLine } from "./show.js";

/** What a user can say to the agent itself, offered as slash commands. */
export const COMMANDS: readonly AvailableCommand[] = [
  { name: "go-on", description: "Go on with an interrupted turn, or send on what is queued" },
  { name: "allows", description: "List what this session goes through with without asking" },
  {
    name: "revoke",
    description: "Take back one of the session's allows, by its number in /allows",
    input: { hint: "number" },
  },
  { name: "queue", description: "List the prompts that wait in the queue" },
  {
    name: "withdraw",
    description: "Take back one of the queued prompts, by its number in /queue",
    input: { hint: "number" },
  },
  { name: "undo", description: "Take back what the last turn changed, after showing it" },
  { name: "redo", description: "Bring back what the last undo took back, after showing it" },
  { name: "verify", description: "Compare this session's log with its own hashes" },
];

/** A prompt that is one of `COMMANDS`. */
export type Command =
  | { readonly name: (typeof PLAIN)[number] }
  | { readonly name: "revoke" | "withdraw"; readonly number: number };

const PLAIN = ["go-on", "allows", "queue", "undo", "redo", "verify"] as const;

/** The command that a prompt is, or undefined: then it is for the model. */
export function commandOf(text: string): Command | undefined {
  const trimmed = text.trim();
  const plain = PLAIN.find((name) => trimmed === `/${name}`);
  if (plain !== undefined) return { name: plain };
  const [, name, number] = /^\/(revoke|withdraw)\s+(\d{1,6})$/.exec(trimmed) ?? [];
  if (name !== "revoke" && name !== "withdraw") return undefined;
  return { name, number: Number(number) };
}

/** The session's allows, numbered for `/revoke`. */
export function listAllows(live: LiveSession): string {
  if (live.allows.length === 0) return "This session has no allows: every card asks.";
  const lines = live.allows.map(
    ({ allow, used }, index) => `${index + 1}. ${allowText(allow)} (used ${used} times)`,
  );
  return `${lines.join("\n")}\n\n/revoke and a number takes one back.`;
}

/** Takes an allow back and says which. */
export async function revokeAllow(live: LiveSession, number: number): Promise<string> {
  const use = live.allows[number - 1];
  if (use === undefined) return `There is no allow with the number ${number}; /allows lists them.`;
  const taken = await live.revoke(use.allow);
  return taken
    ? `Taken back: ${allowText(use.allow)}. It asks again.`
    : "That allow was gone already.";
}

/** The prompts that wait, numbered for `/withdraw`. */
export function listQueue(live: LiveSession): string {
  if (live.queue.length === 0) return "No prompt waits in the queue.";
  const lines = live.queue.map(({ text }, index) => `${index + 1}. ${oneLine(text, 400)}`);
  const next = "/go-on sends them on, /withdraw and a number takes one back.";
  return `These prompts wait in the queue:\n${lines.join("\n")}\n\n${next}`;
}

/** What a user should know of a session that was opened and does not just wait for a prompt. */
export function standing(live: LiveSession): string | undefined {
  if (live.readOnly !== undefined) return live.readOnly;
  if (live.state === "interrupted") {
    return "The last turn was interrupted; /go-on goes on with it.";
  }
  return live.state === "idle" && live.queue.length > 0 ? listQueue(live) : undefined;
}

/** Takes a queued prompt back and says which. */
export async function withdrawAsk(live: LiveSession, number: number): Promise<string> {
  const asked = live.queue[number - 1];
  if (asked === undefined) {
    return `There is no queued prompt with the number ${number}; /queue lists them.`;
  }
  return (await live.withdraw(asked.ask))
    ? `Taken back: ${oneLine(asked.text, 400)}`
    : "That prompt is not in the queue any more.";
}

function allowText(allow: Allow): string {
  if ("write" in allow) return `write \`${oneLine(allow.write, 4096)}\``;
  if ("read" in allow) return `read \`${oneLine(allow.read, 4096)}\``;
  return `run \`${commandLine(allow.run)}\``;
}
