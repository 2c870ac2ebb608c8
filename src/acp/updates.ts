import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { Delta, EventOf, SessionEvent } from "../core/session/events.js";
import { callFace } from "./calls.js";
import { block, commandLine, fenced, oneLine } from "./show.js";
import { UndoUpdates } from "./undoUpdates.js";

/** Characters of a running command's output that a client is shown while it runs. */
const TAIL_CHARS = 16 * 1024;

type LoggedCall = EventOf<"model_answered">["calls"][number];
type Write = { readonly path: string; readonly before: string | null; readonly after: string };

/**
 * A session's events and deltas as `session/update`s. The same events give the same updates
 * live and replayed; what only a stream has (deltas) comes in between.
 */
export class Updates {
  readonly undos = new UndoUpdates();
  readonly #writes = new Map<string, Write>();
  readonly #diffs = new Map<string, string>();
  readonly #tails = new Map<string, string>();
  #streamed = { text: "", reasoning: "" };
  #message = 0;
  #lastText = "";

  constructor(
    private readonly root: string,
    private readonly host: {
      /** The context window of the model that answers now, in tokens. */
      readonly contextTokens: () => number | undefined;
      /** Whether the client takes `notice` updates. */
      readonly notices: () => boolean;
    },
  ) {}

  /** Remembers the texts of a write's card, to be shown again with its result. */
  cardShown(call: string, write: Write): void {
    this.#writes.set(call, write);
  }

  /** `echo`: whether the user's own words are told, as they are in a replay. */
  event(event: SessionEvent, echo: boolean): SessionUpdate[] {
    switch (event.type) {
      case "turn_started":
        this.#startAnswer();
        return echo ? [said("user_message_chunk", event.text, `ask-${event.seq}`)] : [];
      case "model_answered":
        return this.#answered(event);
      case "call_started":
        return [this.#status(event.call, "in_progress")];
      case "card_raised":
        if (event.diff !== undefined) this.#diffs.set(event.call, event.diff);
        return [];
      case "call_ended":
        return [this.#ended(event)];
      case "question":
        return event.options === undefined || event.options.length === 0
          ? [said("agent_message_chunk", event.text, `question-${event.seq}`)]
          : [];
      case "question_answered":
        return echo ? [said("user_message_chunk", event.text, `answer-${event.seq}`)] : [];
      case "hook_ended":
        return [hookUpdate(event)];
      case "result":
        // An answer without calls has been told already as it came.
        return event.text === this.#lastText || event.text === ""
          ? []
          : [said("agent_message_chunk", event.text, `result-${event.seq}`)];
      case "turn_ended":
        this.#startAnswer();
        return endUpdates(event, echo);
      case "session_started":
      case "ask_queued":
      case "ask_withdrawn":
      case "card_edited":
      case "card_answered":
      case "card_spent":
      case "card_withdrawn":
      case "allow_revoked":
        return [];
      case "undo_started":
      case "undo_file":
      case "undo_ended":
        return this.undos.event(event);
      default:
        return event satisfies never;
    }
  }

  /** What happens between events. Output comes whole through `output`, when it is time. */
  delta(delta: Delta): SessionUpdate[] {
    switch (delta.type) {
      case "text":
        this.#streamed.text += delta.text;
        return [said("agent_message_chunk", delta.text, `answer-${this.#message}`)];
      case "reasoning":
        this.#streamed.reasoning += delta.text;
        return [said("agent_thought_chunk", delta.text, `thought-${this.#message}`)];
      case "output": {
        const tail = (this.#tails.get(delta.call) ?? "") + delta.text;
        this.#tails.set(delta.call, tail.slice(-TAIL_CHARS));
        return [];
      }
      case "call_running":
        return [this.#status(delta.call, "in_progress")];
      case "retry": {
        const when = new Date(delta.at).toLocaleTimeString();
        const text = `${delta.reason} Attempt ${delta.attempt} starts at ${when}.`;
        return [
          this.host.notices()
            ? { sessionUpdate: "notice", severity: "warning", title: text }
            : said("agent_thought_chunk", `${text}\n`, `retry-${this.#message}`),
        ];
      }
      case "card_changed":
      case "card_others":
      case "state":
        return [];
      default:
        return delta satisfies never;
    }
  }

  /** What a command has printed last, or undefined where there is nothing to show. */
  output(call: string): SessionUpdate | undefined {
    const tail = this.#tails.get(call);
    if (tail === undefined) return undefined;
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: call,
      content: [block(fenced(tail))],
    };
  }

  #answered(event: EventOf<"model_answered">): SessionUpdate[] {
    const updates: SessionUpdate[] = [];
    const thought = rest(event.reasoning ?? "", this.#streamed.reasoning);
    if (thought) updates.push(said("agent_thought_chunk", thought, `thought-${this.#message}`));
    const text = rest(event.text, this.#streamed.text);
    if (text) updates.push(said("agent_message_chunk", text, `answer-${this.#message}`));
    this.#startAnswer();
    this.#lastText = event.calls.length === 0 ? event.text : "";
    for (const call of event.calls) updates.push(this.#called(call));
    const size = this.host.contextTokens();
    if (event.usage !== undefined && size !== undefined) {
      const used = event.usage.input + event.usage.output;
      updates.push({ sessionUpdate: "usage_update", used, size });
    }
    return updates;
  }

  #called(call: LoggedCall): SessionUpdate {
    return {
      sessionUpdate: "tool_call",
      toolCallId: call.call,
      status: "pending",
      name: call.tool,
      ...callFace(call, this.root),
      rawInput: call.args ?? { invalid: call.invalid ?? "" },
    };
  }

  #status(call: string, status: "in_progress"): SessionUpdate {
    return { sessionUpdate: "tool_call_update", toolCallId: call, status };
  }

  #ended(event: EventOf<"call_ended">): SessionUpdate {
    const { call } = event;
    const write = this.#writes.get(call);
    const diff = this.#diffs.get(call);
    let content: ToolCallContent[];
    if (event.ok && write !== undefined) {
      content = [{ type: "diff", path: write.path, oldText: write.before, newText: write.after }];
    } else if (event.ok && diff !== undefined) {
      // A replay has the diff that the card showed, and not the bytes on the disk of that time.
      content = [block(fenced(diff, "diff")), block(fenced(event.result))];
    } else {
      content = [block(fenced(event.result))];
    }
    this.#tails.delete(call);
    this.#writes.delete(call);
    this.#diffs.delete(call);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: call,
      status: event.ok ? "completed" : "failed",
      content,
      rawOutput: { ok: event.ok, result: event.result },
    };
  }

  #startAnswer(): void {
    this.#message++;
    this.#streamed = { text: "", reasoning: "" };
    this.#lastText = "";
  }
}

/** What of `whole` was not streamed; all of it where the stream said something else. */
function rest(whole: string, streamed: string): string {
  return whole.startsWith(streamed) ? whole.slice(streamed.length) : whole;
}

type Speaker = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

/** A piece of a message; pieces with one `messageId` belong together. */
export function said(sessionUpdate: Speaker, text: string, messageId: string): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: "text", text } };
}

function hookUpdate(event: EventOf<"hook_ended">): SessionUpdate {
  const fault = event.fault ?? (event.exit === 0 ? "passed" : `exit code ${event.exit}`);
  return {
    sessionUpdate: "tool_call",
    toolCallId: `hook-${event.seq}`,
    title: oneLine(`Stop hook ${commandLine(event.argv)}: ${fault}`, 400),
    kind: "execute",
    status: event.exit === 0 && event.fault === undefined ? "completed" : "failed",
    content: event.output ? [block(fenced(event.output))] : [],
  };
}

/** A turn's end by itself is told by the prompt's response; a replay has none, so it says why. */
function endUpdates(event: EventOf<"turn_ended">, echo: boolean): SessionUpdate[] {
  const id = `end-${event.seq}`;
  switch (event.reason) {
    case "finished":
      return [];
    case "limit":
      return [said("agent_message_chunk", event.message ?? "The turn reached its limit.", id)];
    case "failed":
      return echo ? [said("agent_message_chunk", event.message ?? "The turn failed.", id)] : [];
    case "cancelled":
      return echo ? [said("agent_message_chunk", "The turn was cancelled.", id)] : [];
    case "interrupted":
      return echo ? [said("agent_message_chunk", "The turn was interrupted.", id)] : [];
  }
}
