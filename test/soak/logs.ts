import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Allow, SessionEvent } from "../../src/core/session/events.js";

export interface Fault {
  readonly invariant: string;
  readonly what: string;
}

export interface Log {
  readonly id: string;
  readonly events: readonly SessionEvent[];
  /** The bytes of its whole lines. */
  readonly whole: Buffer;
  readonly torn: Buffer;
}

/** The logs of a home as they are on disk; lines that are no JSON are faults. */
export function readLogs(home: string, faults: Fault[]): Log[] {
  const sessions = join(home, "sessions");
  const ids = existsSync(sessions) ? readdirSync(sessions) : [];
  return ids
    .filter((id) => existsSync(join(sessions, id, "log.jsonl")))
    .map((id) => {
      const bytes = readFileSync(join(sessions, id, "log.jsonl"));
      const end = bytes.lastIndexOf(10) + 1;
      const whole = bytes.subarray(0, end);
      const events: SessionEvent[] = [];
      for (const [index, line] of whole.toString("utf8").split("\n").slice(0, -1).entries()) {
        try {
          events.push(JSON.parse(line) as SessionEvent);
        } catch {
          const what = `${id} line ${index + 1}: ${line.slice(0, 200)}`;
          faults.push({ invariant: "every log whole", what });
        }
      }
      return { id, events, whole, torn: bytes.subarray(end) };
    });
}

const keyOf = (allow: Allow): string => JSON.stringify(allow);

function allowOf(card: Extract<SessionEvent, { type: "card_raised" }>): Allow {
  if (card.kind === "run") return { run: card.argv ?? [] };
  return card.kind === "write" ? { write: card.path ?? "" } : { read: card.path ?? "" };
}

/** What one log breaks on its own: its numbers, its results, and effects that nobody allowed. */
export function faultsOf(log: Log): Fault[] {
  const faults: Fault[] = [];
  const fault = (invariant: string, what: string): void => {
    faults.push({ invariant, what: `${log.id}: ${what}` });
  };
  const cards = new Map<string, Extract<SessionEvent, { type: "card_raised" }>>();
  const answers = new Map<string, string>();
  const allows = new Set<string>();
  const ended = new Set<string>();
  const open = new Set<string>();
  for (const [index, event] of log.events.entries()) {
    if (event.seq !== index + 1) {
      fault("every log whole", `line ${index + 1} has the number ${event.seq}`);
      break;
    }
    switch (event.type) {
      case "model_answered":
        for (const { call } of event.calls) open.add(call);
        break;
      case "card_raised":
        cards.set(event.card, event);
        break;
      case "card_answered": {
        if (answers.has(event.card)) fault("one answer a card", `${event.card} has two`);
        answers.set(event.card, event.answer);
        const card = cards.get(event.card);
        if (card === undefined) fault("one answer a card", `${event.card} was never up`);
        else if (event.answer === "allow_session") allows.add(keyOf(allowOf(card)));
        break;
      }
      case "card_spent":
        answers.set(event.card, "spent");
        break;
      case "allow_revoked":
        allows.delete(keyOf(event.allow));
        break;
      case "call_started": {
        if (ended.has(event.call)) fault("no effect twice", `${event.call} began after its end`);
        const card = cards.get(event.card ?? "");
        const answer = answers.get(event.card ?? "");
        const byCard = card?.call === event.call && answer?.startsWith("allow_") === true;
        const byAllow = event.allow !== undefined && allows.has(keyOf(event.allow));
        if (!(event.by === "user" ? byCard : byAllow)) {
          fault("no effect without its answer or allow", JSON.stringify(event));
        }
        break;
      }
      case "call_ended":
        if (ended.has(event.call)) fault("one result a call", `${event.call} has two`);
        ended.add(event.call);
        open.delete(event.call);
        break;
      case "turn_ended":
        if (open.size > 0) fault("one result a call", `${[...open]} have none`);
        open.clear();
        break;
      default:
        break;
    }
  }
  return faults;
}

/** The calls whose effect began, each with its arguments, as often as it began. */
export function startedCalls(logs: readonly Log[]): { args: string; ok: boolean }[] {
  return logs.flatMap(({ events }) => {
    const args = new Map<string, string>();
    const edited = new Map<string, string>();
    const ok = new Set<string>();
    for (const event of events) {
      if (event.type === "model_answered") {
        for (const one of event.calls) args.set(one.call, JSON.stringify(one.args));
      }
      if (event.type === "card_edited") edited.set(event.card, event.edited ?? "");
      if (event.type === "call_ended" && event.ok) ok.add(event.call);
    }
    return events.flatMap((event) =>
      event.type === "call_started"
        ? [
            {
              args: `${args.get(event.call) ?? ""}${edited.get(event.card ?? "") ?? ""}`,
              ok: ok.has(event.call),
            },
          ]
        : [],
    );
  });
}
