/**
 * A session to read: what was asked, said and done, and of each effect by whose answer, when and
 * where, or by which allow and how that came to be. Markdown by its looks; every text of a model, a
 * file, a program or a person stands in a code block that it cannot end, hidden characters made
 * visible, so that none of them can pass for a line of the log.
 */
import type { Allow, EventOf, SessionEvent, Surface } from "../session/events.js";
import { type Given, Provenance, type Why } from "./provenance.js";
import { argvCode, code, fence, time } from "./readableText.js";

const SURFACES = {
  chat: "in the chat",
  approvals: "in Approvals",
  lens: "in the diff editor",
  title: "in the title of the diff editor",
  command: "by a command",
  status: "in the status bar",
  acp: "in another editor",
  test: "in a test",
} as const satisfies Record<Surface, string>;

const ENDS = {
  finished: "finished",
  cancelled: "cancelled by the user",
  failed: "failed",
  interrupted: "interrupted: the host went away",
  limit: "ended at a limit",
} as const satisfies Record<EventOf<"turn_ended">["reason"], string>;

const UNDONE = { restored: "brought back", removed: "removed", failed: "not undone" } as const;

type CallOfModel = EventOf<"model_answered">["calls"][number];

function where(surface: Surface | undefined): string {
  return surface === undefined ? "" : ` ${SURFACES[surface]}`;
}

function counts(event: { added?: number | undefined; removed?: number | undefined }): string {
  return `${event.added ?? 0} lines added, ${event.removed ?? 0} removed`;
}

function allowText(allow: Allow): string {
  if ("write" in allow) return `change ${code(allow.write)}`;
  return "read" in allow ? `read ${code(allow.read)}` : `run ${argvCode(allow.run)}`;
}

function given({ card, at, surface, turn }: Given): string {
  return `${time(at)}${where(surface)}, on card ${code(card)} of turn ${turn}`;
}

function whyText(why: Why): string {
  if (why.by === "allow") {
    const how =
      why.given === undefined ? "with which the session began" : `given at ${given(why.given)}`;
    return `by the allow to ${allowText(why.allow)}, ${how}`;
  }
  return why.given === undefined
    ? "by an answer that is not in the log"
    : `by the answer of ${given(why.given)}`;
}

/** Turns events, in their order, into text; what it gives for each is final. */
export class Readable {
  readonly #why = new Provenance();
  readonly #calls = new Map<string, CallOfModel>();
  readonly #started = new Set<string>();

  /** `limit`: characters of one text that are shown at most. */
  constructor(private readonly limit: number) {}

  /** The text of one more event. */
  take(event: SessionEvent): string {
    this.#why.take(event);
    const at = time(event.at);
    switch (event.type) {
      case "session_started":
        return `Session in ${code(event.workspace)}, begun ${at}${event.version === undefined ? "" : ` by version ${code(event.version)}`}.\n\n`;
      case "ask_queued":
        return `- ${at}: a message was queued.\n\n${this.#fence(event.text)}`;
      case "ask_withdrawn":
        return `- ${at}: a queued message was taken back.\n\n${this.#fence(event.text)}`;
      case "turn_started":
        this.#calls.clear();
        this.#started.clear();
        return `## Turn ${this.#why.turn}, ${at}\n\nModel ${code(event.model)}. ${event.goesOn === undefined ? "You" : "Going on with an earlier turn, you"} asked:\n\n${this.#fence(event.text)}`;
      case "model_answered":
        return this.#answered(event);
      case "card_raised":
        return `${this.#heading(event.call)}${this.#card(event)}`;
      case "card_edited":
        return event.reverted === true
          ? `- ${at}: you brought the proposal back on card ${code(event.card)}.\n`
          : `- ${at}: you edited card ${code(event.card)}: ${counts(event)}.\n\n${this.#fence(event.diff, "diff")}`;
      case "card_answered":
        return this.#answer(event);
      case "card_spent":
        return `- ${at}: the file was not the one that card ${code(event.card)} showed any more: the answer was spent and nothing was done.\n`;
      case "card_withdrawn":
        return `- ${at}: card ${code(event.card)} was withdrawn without an answer.\n`;
      case "call_started":
        this.#started.add(event.call);
        return `${this.#heading(event.call)}- ${at}: **it went through** ${whyText(this.#why.whyStarted(event))}.\n`;
      case "call_ended":
        return this.#ended(event);
      case "question": {
        const options = (event.options ?? []).map((option) => `  - ${code(option)}\n`).join("");
        return `${this.#heading(event.call)}- ${at}: it asked you:\n${options}\n${this.#fence(event.text)}`;
      }
      case "question_answered":
        return `- ${at}: you answered:\n\n${this.#fence(event.text)}`;
      case "hook_ended":
        return this.#hook(event);
      case "result":
        return `- ${at}: the result:\n\n${this.#fence(event.text)}`;
      case "turn_ended":
        return `### Turn ${this.#why.turn} ${ENDS[event.reason]}, ${at}\n\n${event.message === undefined ? "" : this.#fence(event.message)}`;
      case "undo_started":
        return this.#undo(event);
      case "undo_file": {
        const how = event.trash === true ? ", to the trash" : "";
        const found = event.found === true ? " (found so after a crash)" : "";
        return `- ${at}: ${code(event.path)} was ${UNDONE[event.outcome]}${how}${found}.\n${event.message === undefined ? "" : `\n${this.#fence(event.message)}`}`;
      }
      case "undo_ended":
        return `- ${at}: the undo ${event.reason === "finished" ? "was finished" : "was interrupted"}.\n\n`;
      case "allow_revoked":
        return `- ${at}: you took back the allow to ${allowText(event.allow)}.\n\n`;
      default:
        return event satisfies never;
    }
  }

  #fence(text: string, language = "text"): string {
    return fence(text, this.limit, language);
  }

  #answered(event: EventOf<"model_answered">): string {
    for (const call of event.calls) this.#calls.set(call.call, call);
    const { usage } = event;
    const tokens = usage === undefined ? "" : `, ${usage.input} tokens in, ${usage.output} out`;
    const wants =
      event.calls.length === 0
        ? ""
        : `It calls ${event.calls.map(({ tool }) => code(tool)).join(", ")}.\n\n`;
    return [
      `### Answer, ${time(event.at)}${tokens}\n\n`,
      event.reasoning === undefined ? "" : `Reasoning:\n\n${this.#fence(event.reasoning)}`,
      event.text === "" ? "" : this.#fence(event.text),
      event.stop === "length" ? "The answer was cut at the limit of tokens.\n\n" : "",
      wants,
    ].join("");
  }

  /** Once for each call, when something first comes of it. */
  #heading(name: string): string {
    const call = this.#calls.get(name);
    if (call === undefined) return "";
    this.#calls.delete(name);
    const args = call.args === null ? call.invalid : JSON.stringify(call.args, null, 1);
    return `\n### Call ${code(call.tool)} (${code(name)})\n\n${this.#fence(args ?? "", "json")}`;
  }

  #card(event: EventOf<"card_raised">): string {
    const out = [`- ${time(event.at)}: card ${code(event.card)} went up`];
    if (event.replaces !== undefined) out.push(`, in the place of ${code(event.replaces)}`);
    if (event.kind === "run") {
      out.push(`, to run ${argvCode(event.argv ?? [])}`);
      if (event.timeout !== undefined) out.push(` for at most ${event.timeout} s`);
    } else {
      const verb =
        event.kind === "read" ? "read" : event.bytesBefore === null ? "create" : "change";
      out.push(`, to ${verb} ${code(event.path ?? "")}`);
      if (event.given !== undefined) out.push(`, given as ${code(event.given)}`);
    }
    if (event.kind === "write") {
      const { bytesBefore: before, bytesAfter: after = 0 } = event;
      const bytes = before == null ? `${after} bytes` : `${before} bytes before and ${after} after`;
      out.push(`: ${counts(event)}, ${bytes}`);
    }
    out.push(".\n");
    for (const reason of event.reasons ?? []) out.push(`  - Look twice: ${code(reason)}\n`);
    if (event.diffCut === true) out.push("  - Only the first lines of the diff were shown.\n");
    const { diff } = event;
    return `${out.join("")}${diff === undefined || diff === "" ? "" : `\n${this.#fence(diff, "diff")}`}`;
  }

  #answer(event: EventOf<"card_answered">): string {
    const words = {
      allow_once: "approved",
      allow_session: "approved for this session",
      deny: event.nothingLeft === true ? "approved with nothing left of it, a denial" : "denied",
    } as const;
    const edited = event.digest === undefined ? "" : ", as edited";
    const said = `- ${time(event.at)}: **you ${words[event.answer]}** card ${code(event.card)}${edited}${where(event.surface)}.\n`;
    return event.note === undefined ? said : `${said}\n${this.#fence(event.note)}`;
  }

  #ended(event: EventOf<"call_ended">): string {
    let why = "";
    if (event.by === "inside") why = ", **let through** because it reads inside the folder";
    else if (event.by === undefined && !this.#started.has(event.call)) {
      why = event.ok ? ", which touches nothing and needs no answer" : ", and nothing was done";
    }
    const changed = event.changed === undefined ? "" : `; it changed ${code(event.changed)}`;
    const how = event.ok ? "succeeded" : "failed";
    return `${this.#heading(event.call)}- ${time(event.at)}: it ${how}${why}${changed}.\n\n${this.#fence(event.result)}`;
  }

  #hook(event: EventOf<"hook_ended">): string {
    const how = event.fault === undefined ? `exit code ${event.exit}` : code(event.fault);
    const output = event.output ? `\n${this.#fence(event.output)}` : "\n";
    return `- ${time(event.at)}: Stop hook ${argvCode(event.argv)}: ${how}.\n${output}`;
  }

  #undo(event: EventOf<"undo_started">): string {
    const files = event.files.map(({ path, choice }) => {
      const how = choice === undefined ? "" : ` (you chose: ${choice})`;
      return `  - ${code(path)}${how}\n`;
    });
    return `## Undo, ${time(event.at)}\n\n- You took back the ${event.kind} ${code(event.of)}${where(event.surface)}:\n${files.join("")}`;
  }
}
