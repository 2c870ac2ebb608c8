import {
  type AgentContext,
  methods,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { DELTA_BATCH_MS } from "../core/limits.js";
import type { Delta, EventOf, SessionEvent } from "../core/session/events.js";
import type { AskOutcome, LiveSession } from "../core/turn/live.js";
import { Asks } from "./asks.js";
import { listQueue } from "./commands.js";
import type { Mode } from "./options.js";
import { Outbox } from "./outbox.js";
import { cardTexts } from "./permission.js";
import { type End, Turns } from "./turns.js";
import { takeBack } from "./undo.js";
import { said, Updates } from "./updates.js";

/** What a session needs of the connection it is on. */
export interface SessionHost {
  readonly client: AgentContext;
  readonly notices: () => boolean;
  readonly contextTokens: () => number | undefined;
  readonly filesChanged: (paths: readonly string[]) => void;
  /** The session's title as it is on disk now. */
  readonly title: () => Promise<string | undefined>;
  /** Aborts when the client is gone: nothing that fails then is an answer. */
  readonly gone: AbortSignal;
  readonly report: (message: string) => void;
}

/**
 * One live session on one connection: events go out as updates, cards and questions as requests,
 * and a prompt's response waits for its turn.
 */
export class AcpSession {
  #updates: Updates;
  readonly #outbox: Outbox;
  readonly #asks: Asks;
  readonly #turns: Turns;
  /** Arguments of calls that have no result yet. */
  readonly #inputs = new Map<string, unknown>();
  readonly #outputs = new Map<string, NodeJS.Timeout>();
  readonly #listeners: readonly { dispose(): void }[];
  /** Asks that a prompt of this connection queued. */
  readonly #prompted = new Set<string>();
  #title: string | undefined;
  #replies = 0;
  /** How often the client has cancelled: a prompt that came before the last time is cancelled too. */
  #cancels = 0;
  /** Aborts the undo that the client is being asked about. */
  #undoing: AbortController | undefined;
  #closed = false;

  constructor(
    readonly live: LiveSession,
    readonly root: string,
    private readonly host: SessionHost,
  ) {
    const { client, gone, report } = host;
    this.#updates = new Updates(root, host);
    this.#turns = new Turns(live);
    this.#outbox = new Outbox((update) =>
      client.notify(methods.client.session.update, { sessionId: live.id, update }),
    );
    this.#asks = new Asks(live, {
      client,
      gone,
      report,
      outbox: this.#outbox,
      filesChanged: host.filesChanged,
      input: (call) => this.#inputs.get(call),
      shown: (card) => {
        const texts = cardTexts(card);
        if (texts !== undefined) this.#updates.cardShown(card.call, texts);
      },
    });
    this.#listeners = [
      live.onEvent((event) => this.#event(event)),
      live.onDelta((delta) => this.#delta(delta)),
    ];
  }

  get mode(): Mode {
    return this.#asks.mode;
  }

  /** What is open already follows the new mode. */
  setMode(mode: Mode): void {
    this.#asks.setMode(mode);
  }

  /** Queues an update that is no part of the log (a mode, the commands, a command's answer). */
  tell(update: SessionUpdate): void {
    this.#outbox.push(update);
  }

  /** Answers a prompt that was for the agent itself. */
  async reply(text: string): Promise<PromptResponse> {
    this.tell(said("agent_message_chunk", text, `reply-${++this.#replies}`));
    return this.#respond({ stopReason: "end_turn" });
  }

  /** Tells the whole log, as it came; resolves when the client has it. */
  async replay(): Promise<void> {
    this.#asks.hold();
    this.#updates = new Updates(this.root, this.host);
    // In one go, so that what is new meanwhile comes after all of it.
    for (const event of this.live.events) {
      this.#remember(event);
      for (const update of this.#updates.event(event, true)) this.#outbox.push(update);
    }
    await this.#outbox.flushed();
  }

  /** Learns of the log without telling it, as `session/resume` wants it. */
  catchUp(): void {
    this.#asks.hold();
    this.#updates = new Updates(this.root, this.host);
    for (const event of this.live.events) {
      this.#remember(event);
      this.#updates.event(event, false);
    }
  }

  /** The client knows the session by now: asks for whatever is open. */
  askOpen(): void {
    if (!this.#closed) this.#asks.askOpen();
  }

  /** One prompt: a turn, a place in the queue, or the answer to an open question. */
  async prompt(text: string, signal: AbortSignal): Promise<PromptResponse> {
    const question = this.live.openQuestion;
    if (question === undefined || question.options?.length) {
      return this.#respond(await this.#askAndWait(() => this.live.ask(text), signal));
    }
    const asked = this.live.events.findLast(
      (one) => one.type === "question" && one.question === question.question,
    );
    const cancels = this.#cancels;
    const { value: outcome, seen } = await this.#turns.during(() =>
      this.live.answerQuestion(question.question, text),
    );
    if (outcome.outcome !== "gone") {
      return this.#respond(await this.#turnEnd(asked?.turn ?? "", seen, signal));
    }
    if (cancels !== this.#cancels) return this.#respond({ stopReason: "cancelled" });
    throw RequestError.invalidRequest(undefined, outcome.message);
  }

  /** Takes back what the last turn changed, or what the last undo did, as the client confirms it. */
  async undo(which: "undo" | "redo", signal: AbortSignal): Promise<PromptResponse> {
    if (this.#undoing !== undefined) {
      return this.reply("An undo is being asked about: answer that first, or cancel it.");
    }
    const undoing = new AbortController();
    this.#undoing = undoing;
    try {
      const said = await takeBack(
        {
          live: this.live,
          mode: () => this.mode,
          tell: (update) => this.tell(update),
          expect: (asked) => this.#updates.undos.expect(asked),
          ask: (request, cancelled) => this.#ask(request, cancelled),
          report: this.host.report,
        },
        which,
        AbortSignal.any([signal, undoing.signal]),
      );
      if (said === undefined) return await this.#respond({ stopReason: "cancelled" });
      return await this.reply(said);
    } finally {
      this.#undoing = undefined;
    }
  }

  /**
   * Stops the turn, as the client wants it. Every prompt that waits is answered: what is queued stays
   * in the queue, and its prompt ends.
   */
  async cancel(): Promise<void> {
    this.#cancels++;
    this.#undoing?.abort();
    await this.live.cancel();
  }

  /** Goes on with an interrupted turn, or sends on what waits in the queue. */
  async goOn(signal: AbortSignal): Promise<PromptResponse> {
    return this.#respond(await this.#askAndWait(() => this.live.goOn(), signal));
  }

  /** Ends the session on this connection; open cards stay open in the log. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#asks.close();
    this.#undoing?.abort();
    await this.live.close();
    for (const listener of this.#listeners) listener.dispose();
    for (const timer of this.#outputs.values()) clearTimeout(timer);
    this.#turns.close();
    this.#outbox.close();
  }

  async #askAndWait(ask: () => Promise<AskOutcome>, signal: AbortSignal): Promise<End> {
    const cancels = this.#cancels;
    // A turn may have ended by the time that the core says it started.
    const { value: outcome, seen } = await this.#turns.during(ask);
    const cancelled = cancels !== this.#cancels;
    switch (outcome.outcome) {
      case "refused":
        if (cancelled) return { stopReason: "cancelled" };
        throw RequestError.invalidRequest(undefined, outcome.message);
      case "started":
        return this.#turnEnd(outcome.turn, seen, signal);
      case "queued":
        return this.#queuedEnd(outcome.ask, cancelled, seen, signal);
    }
  }

  async #queuedEnd(
    ask: string,
    cancelled: boolean,
    seen: readonly SessionEvent[],
    signal: AbortSignal,
  ): Promise<End> {
    this.#prompted.add(ask);
    const started = this.#turns.start(ask, seen);
    const start = await this.#until(started, signal, () => this.live.withdraw(ask));
    this.#prompted.delete(ask);
    if (start === "held") {
      const { events } = this.live;
      const last = events.findLast(
        (one) => one.type === "turn_ended" || (one.type === "ask_queued" && one.ask === ask),
      );
      // It was not in the queue yet when the turn's end told of that.
      if (last?.type === "ask_queued") this.#tellQueue(last.seq);
      return this.#turns.held();
    }
    if (start === "closed" || start === "withdrawn") return { stopReason: "cancelled" };
    // The cancel came after this prompt, and found nothing that ran yet.
    if (cancelled) await this.live.cancel();
    const later = this.live.events.filter((event) => event.seq > start.seq);
    return this.#turnEnd(start.turn ?? "", later, signal);
  }

  async #turnEnd(turn: string, seen: readonly SessionEvent[], signal: AbortSignal): Promise<End> {
    const ended = this.#turns.end(turn, seen);
    const end = await this.#until(ended, signal, () => this.live.cancel());
    await this.#turns.settled(turn);
    return end === "closed" ? { stopReason: "cancelled" } : end;
  }

  /** Calls `abort` when the client takes its request back, and waits for what comes of it. */
  async #until<T>(
    value: Promise<T>,
    signal: AbortSignal,
    abort: () => Promise<unknown>,
  ): Promise<T> {
    const aborted = (): void => {
      // The same signal says that the client is gone, which leaves open cards open.
      if (this.#closed || this.host.gone.aborted) return;
      abort().catch((error: unknown) => this.host.report(String(error)));
    };
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    try {
      return await value;
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }

  /** Asks the client when all that was told before has left; rejects where it does not answer. */
  #ask(request: RequestPermissionRequest, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#outbox.after(() => {
        if (signal.aborted) return;
        this.host.client
          .request(methods.client.session.requestPermission, request, {
            cancellationSignal: signal,
            stopWaitingOnCancel: true,
          })
          .then(resolve, reject);
      });
    });
  }

  async #respond(end: End): Promise<PromptResponse> {
    await this.#outbox.flushed();
    if ("error" in end) throw end.error;
    return end;
  }

  /** Says what waits for the user; `seq` is the event that it is said at. */
  #tellQueue(seq: number): void {
    this.tell(said("agent_message_chunk", listQueue(this.live), `queue-${seq}`));
  }

  #remember(event: SessionEvent): void {
    if (event.type === "model_answered") {
      for (const call of event.calls) this.#inputs.set(call.call, call.args ?? {});
    } else if (event.type === "call_ended") {
      this.#inputs.delete(event.call);
    }
  }

  #event(event: SessionEvent): void {
    this.#remember(event);
    if (event.type === "call_ended") this.#stopOutput(event.call);
    // The words of a prompt are the client's own; those of an older queue it has not seen.
    const echo =
      event.type === "turn_started" && event.ask !== undefined && !this.#prompted.has(event.ask);
    for (const update of this.#updates.event(event, echo)) this.#outbox.push(update);
    if (event.type === "turn_ended" && !endedByItself(event) && this.live.queue.length > 0) {
      this.#tellQueue(event.seq);
    }
    this.#asks.event(event);
    this.#turns.tell(event);
    if (event.type === "turn_ended") void this.#tellTitle();
  }

  #delta(delta: Delta): void {
    for (const update of this.#updates.delta(delta)) this.#outbox.push(update);
    if (delta.type === "output") this.#outputSoon(delta.call);
    else if (delta.type === "state") this.#turns.state();
    else if (delta.type === "card_changed") this.#asks.changed(delta);
    else if (delta.type === "card_others") this.#asks.others(delta);
  }

  async #tellTitle(): Promise<void> {
    const title = await this.host.title().catch(() => undefined);
    if (title === undefined || title === this.#title) return;
    this.#title = title;
    this.tell({ sessionUpdate: "session_info_update", title });
  }

  /** A flood of output becomes a look at its end, every so often. */
  #outputSoon(call: string): void {
    if (this.#outputs.has(call)) return;
    const timer = setTimeout(() => {
      this.#outputs.delete(call);
      const update = this.#updates.output(call);
      if (update !== undefined) this.#outbox.push(update, `output:${call}`);
    }, DELTA_BATCH_MS);
    this.#outputs.set(call, timer);
  }

  #stopOutput(call: string): void {
    clearTimeout(this.#outputs.get(call));
    this.#outputs.delete(call);
    this.#outbox.drop(`output:${call}`);
  }
}

/** Whether the next queued ask follows this end by itself. */
function endedByItself({ reason }: EventOf<"turn_ended">): boolean {
  return reason === "finished" || reason === "limit";
}
