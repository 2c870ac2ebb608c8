import type { Allow, EventOf, SessionEvent, SessionState } from "./events.js";

/** One call of a model answer, as far as it has come. */
export interface CallState {
  readonly call: string;
  readonly tool: string;
  readonly args: Record<string, unknown> | null;
  readonly invalid?: string;
  /** Its effect began: after a restart nobody knows how far it came. */
  started: boolean;
  ended: boolean;
  /** Its card that waits for an answer. */
  openCard: string | undefined;
  /** Its newest card and what was said to it. */
  lastCard: string | undefined;
  answer: EventOf<"card_answered"> | undefined;
  question: EventOf<"question"> | undefined;
  reply: string | undefined;
}

/** The turn that the log has begun and not ended, or the last one. */
export interface TurnState {
  readonly turn: string;
  readonly text: string;
  answers: number;
  /** How often Stop hooks have blocked it. */
  blocks: number;
  /** A Stop hook blocked and the model has not answered since. */
  hookSpoke: boolean;
  /** Real paths it changed, in order, each once. */
  readonly changed: Set<string>;
  /** Calls of its last answer, in order. */
  calls: readonly CallState[];
  lastAnswer: EventOf<"model_answered"> | undefined;
  result: string | undefined;
  ended: EventOf<"turn_ended"> | undefined;
}

/** What a session is, as a function of its events. */
export interface SessionFacts {
  workspace: string | undefined;
  turn: TurnState | undefined;
  /** The open cards by their name. */
  readonly cards: Map<string, EventOf<"card_raised">>;
  question: EventOf<"question"> | undefined;
  readonly queue: { ask: string; text: string }[];
  /** The undo that has begun and not ended, and the files of which it is known what became. */
  undo: { readonly started: EventOf<"undo_started">; readonly told: Set<string> } | undefined;
  /** Every name of a call there ever was, so that none is used twice. */
  readonly callNames: Set<string>;
  firstAsk: string | undefined;
  model: string | undefined;
}

/** What is known of a log without a line. */
export function noFacts(): SessionFacts {
  return {
    workspace: undefined,
    turn: undefined,
    cards: new Map(),
    question: undefined,
    queue: [],
    undo: undefined,
    callNames: new Set(),
    firstAsk: undefined,
    model: undefined,
  };
}

/** The same text for the same allow, and for no other. */
export function allowKey(allow: Allow): string {
  if ("write" in allow) return JSON.stringify(["write", allow.write]);
  if ("read" in allow) return JSON.stringify(["read", allow.read]);
  return JSON.stringify(["run", ...allow.run]);
}

function callOf(facts: SessionFacts, call: string): CallState | undefined {
  return facts.turn?.calls.find((one) => one.call === call);
}

function closeCard(facts: SessionFacts, card: string): CallState | undefined {
  const raised = facts.cards.get(card);
  facts.cards.delete(card);
  const call = raised === undefined ? undefined : callOf(facts, raised.call);
  if (call?.openCard === card) call.openCard = undefined;
  return call;
}

function unqueue(facts: SessionFacts, ask: string): void {
  const index = facts.queue.findIndex((queued) => queued.ask === ask);
  if (index !== -1) facts.queue.splice(index, 1);
}

function startTurn(facts: SessionFacts, event: EventOf<"turn_started">): void {
  facts.turn = {
    turn: event.turn ?? "",
    text: event.text,
    answers: 0,
    blocks: 0,
    hookSpoke: false,
    changed: new Set(),
    calls: [],
    lastAnswer: undefined,
    result: undefined,
    ended: undefined,
  };
  // Nothing of an older turn is open any more, whatever a damaged log says.
  facts.cards.clear();
  facts.question = undefined;
  facts.firstAsk ??= event.text;
  facts.model = event.model;
  if (event.ask !== undefined) unqueue(facts, event.ask);
}

function takeAnswer(facts: SessionFacts, event: EventOf<"model_answered">): void {
  for (const { call } of event.calls) facts.callNames.add(call);
  const { turn } = facts;
  if (turn === undefined) return;
  turn.answers++;
  turn.hookSpoke = false;
  turn.lastAnswer = event;
  turn.calls = event.calls.map(({ call, tool, args, invalid }) => ({
    call,
    tool,
    args,
    ...(invalid === undefined ? {} : { invalid }),
    started: false,
    ended: false,
    openCard: undefined,
    lastCard: undefined,
    answer: undefined,
    question: undefined,
    reply: undefined,
  }));
}

function endCall(facts: SessionFacts, event: EventOf<"call_ended">): void {
  if (event.changed !== undefined) facts.turn?.changed.add(event.changed);
  if (facts.question?.call === event.call) facts.question = undefined;
  const call = callOf(facts, event.call);
  if (call === undefined) return;
  call.ended = true;
  if (call.openCard !== undefined) closeCard(facts, call.openCard);
}

/** Takes one more event into `facts`. The whole of a session's behaviour after a restart is here. */
export function addEvent(facts: SessionFacts, event: SessionEvent): void {
  switch (event.type) {
    case "session_started":
      facts.workspace = event.workspace;
      return;
    case "ask_queued":
      facts.queue.push({ ask: event.ask, text: event.text });
      return;
    case "ask_withdrawn":
      unqueue(facts, event.ask);
      return;
    case "turn_started":
      startTurn(facts, event);
      return;
    case "model_answered":
      takeAnswer(facts, event);
      return;
    case "card_raised": {
      facts.cards.set(event.card, event);
      if (event.replaces !== undefined) closeCard(facts, event.replaces);
      const call = callOf(facts, event.call);
      if (call === undefined) return;
      call.openCard = event.card;
      call.lastCard = event.card;
      call.answer = undefined;
      return;
    }
    case "card_edited":
      return;
    case "card_answered": {
      const call = closeCard(facts, event.card);
      if (call !== undefined) call.answer = event;
      return;
    }
    case "card_spent":
    case "card_withdrawn": {
      closeCard(facts, event.card);
      const call = facts.turn?.calls.find((one) => one.lastCard === event.card);
      if (call === undefined) return;
      call.answer = undefined;
      // A file that changed between the answer and the rename: its write was dropped.
      if (event.type === "card_spent") call.started = false;
      return;
    }
    case "call_started": {
      const call = callOf(facts, event.call);
      if (call !== undefined) call.started = true;
      return;
    }
    case "call_ended":
      endCall(facts, event);
      return;
    case "question": {
      facts.question = event;
      const call = callOf(facts, event.call);
      if (call !== undefined) call.question = event;
      return;
    }
    case "question_answered": {
      if (facts.question?.question === event.question) facts.question = undefined;
      const call = callOf(facts, event.call);
      if (call !== undefined) call.reply = event.text;
      return;
    }
    case "hook_ended":
      if (facts.turn !== undefined && event.exit !== 0) {
        facts.turn.blocks++;
        facts.turn.hookSpoke = true;
      }
      return;
    case "result":
      if (facts.turn !== undefined) facts.turn.result = event.text;
      return;
    case "turn_ended":
      if (facts.turn !== undefined) facts.turn.ended = event;
      facts.cards.clear();
      facts.question = undefined;
      return;
    case "undo_started":
      facts.undo = { started: event, told: new Set() };
      return;
    case "undo_file":
      if (facts.undo?.started.undo === event.undo) facts.undo.told.add(event.path);
      return;
    case "undo_ended":
      if (facts.undo?.started.undo === event.undo) facts.undo = undefined;
      return;
    case "allow_revoked":
      return;
    default:
      event satisfies never;
  }
}

/** The facts of a whole log. */
export function factsOf(events: Iterable<SessionEvent>): SessionFacts {
  const facts = noFacts();
  for (const event of events) addEvent(facts, event);
  return facts;
}

/** True while a turn has begun and not ended. */
export function turnIsOpen(facts: SessionFacts): boolean {
  return facts.turn !== undefined && facts.turn.ended === undefined;
}

/** Whether a turn came to its end by itself, so that the next queued ask may follow it. */
export function endedByItself(reason: EventOf<"turn_ended">["reason"]): boolean {
  return reason === "finished" || reason === "limit";
}

/** How the session reads. `driven`: some process is at work on it right now. */
export function stateOf(facts: SessionFacts, driven: boolean): SessionState {
  if (!turnIsOpen(facts)) return driven ? "running" : "idle";
  if (!driven) return "interrupted";
  return facts.cards.size > 0 || facts.question !== undefined ? "waiting" : "running";
}
