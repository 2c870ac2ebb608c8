import type { SessionEvent } from "../core/session/events.js";

/** A session as Markdown to keep or to send on; every text of a tool is fenced so that it stays text. */
export function toMarkdown(title: string, events: readonly SessionEvent[]): string {
  const out: string[] = [`# ${line(title)}`, ""];
  for (const event of events) {
    switch (event.type) {
      case "session_started":
        out.push(`Workspace: ${code(event.workspace)}, started ${event.at}`, "");
        break;
      case "turn_started":
        out.push(`## You, ${event.at}`, "", event.text, "");
        break;
      case "model_answered":
        if (event.text !== "") out.push("### Countersign", "", event.text, "");
        for (const call of event.calls)
          out.push(
            `**${line(call.tool)}**`,
            "",
            ...fence(JSON.stringify(call.args ?? call.invalid, null, 2)),
          );
        break;
      case "card_raised":
        out.push(
          `Card: ${event.kind} ${code(event.argv?.join(" ") ?? event.path ?? "")}`,
          "",
          ...(event.diff ? fence(event.diff, "diff") : []),
        );
        break;
      case "card_edited":
        if (event.reverted === true) out.push("The proposal was brought back.", "");
        else out.push("Edited before the answer:", "", ...fence(event.diff, "diff"));
        break;
      case "card_answered":
        out.push(
          `Answer: ${event.answer}, ${event.at}${event.note ? `: ${line(event.note)}` : ""}`,
          "",
        );
        break;
      case "card_spent":
        out.push("The file had changed: the answer was not used.", "");
        break;
      case "card_withdrawn":
        out.push("The card was withdrawn.", "");
        break;
      case "call_ended":
        out.push(event.ok ? "Result:" : "Failed:", "", ...fence(event.result));
        break;
      case "question":
        out.push(`Question: ${line(event.text)}`, "");
        break;
      case "question_answered":
        out.push(`Your answer: ${line(event.text)}`, "");
        break;
      case "hook_ended":
        out.push(
          `Stop hook ${code(event.argv.join(" "))}: ${event.fault ?? `exit ${event.exit}`}`,
          "",
        );
        break;
      case "result":
        out.push("### Result", "", event.text, "");
        break;
      case "turn_ended":
        out.push(
          `Turn ended: ${event.reason}${event.message ? `, ${line(event.message)}` : ""}`,
          "",
        );
        break;
      case "undo_started":
        out.push(`Undo of a ${event.kind}, ${event.at}`, "");
        break;
      case "undo_file":
        out.push(`${UNDONE[event.outcome]} ${code(event.path)}`, "");
        break;
      case "undo_ended":
      case "ask_queued":
      case "ask_withdrawn":
      case "call_started":
      case "allow_revoked":
        break;
      default:
        event satisfies never;
    }
  }
  return `${out.join("\n").trimEnd()}\n`;
}

const UNDONE = { restored: "Restored", removed: "Removed", failed: "Not undone:" } as const;

/** A fence longer than any run of backticks within. */
function fence(text: string, info = ""): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return [`${marks}${info}`, text.replace(/\n$/, ""), marks, ""];
}

function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return longest === 0 ? `${marks}${line(text)}${marks}` : `${marks} ${line(text)} ${marks}`;
}

function line(text: string): string {
  return text.replace(/\s+/g, " ");
}
