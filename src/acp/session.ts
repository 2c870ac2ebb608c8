import {
  type AgentContext,
  methods,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { Delta, SessionEvent } from "../core/session/events.js";
import { endedByItself } from "../core/session/state.js";
import type { LiveSession } from "../core/turn/live.js";
import { unlessAborted } from "../core/turn/unlessAborted.js";
import { Asks } from "./asks.js";
import { listQueue } from "./commands.js";
import type { Mode } from "./options.js";
import { Outbox } from "./outbox.js";
import { Outputs } from "./outputs.js";
import { cardTexts } from "./permission.js";
import { PromptEnds } from "./promptEnds.js";
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
  readonly #outputs: Outputs;
  readonly #listeners: readonly { dispose(): void }[];
  readonly #prompts: PromptEnds;
  #title: string | undefined;
  #replies = 0;
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
    this.#prompts = new PromptEnds(live, this.#turns, {
      gone,
      report,
      tellQueue: (seq) => this.#tellQueue(seq),
    });
    this.#outbox = new Outbox((update) =>
      client.notify(methods.client.session.update, { sessionId: live.id, update }),
    );
    this.#outputs = new Outputs(this.#outbox, (call) => this.#updates.output(call));
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
      return this.#respond(await this.#prompts.ofAsk(() => this.live.ask(text), signal));
    }
    return this.#respond(await this.#prompts.ofAnswer(question, text, signal));
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
    this.#prompts.cancelled();
    this.#undoing?.abort();
    await this.live.cancel();
  }

  /** Goes on with an interrupted turn, or sends on what waits in the queue. */
  async goOn(signal: AbortSignal): Promise<PromptResponse> {
    return this.#respond(await this.#prompts.ofAsk(() => this.live.goOn(), signal));
  }

  /** Ends the session on this connection; open cards stay open in the log. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#prompts.close();
    this.#asks.close();
    this.#undoing?.abort();
    await this.live.close();
    for (const listener of this.#listeners) listener.dispose();
    this.#outputs.close();
    this.#turns.close();
    this.#outbox.close();
  }

  /** Asks the client when all that was told before has left; rejects where it does not answer. */
  #ask(request: RequestPermissionRequest, signal: AbortSignal): Promise<unknown> {
    const asked = new Promise<unknown>((resolve, reject) => {
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
    // What it listens with goes again: one signal serves for every question of an undo.
    return unlessAborted(asked, signal);
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
    if (event.type === "call_ended") this.#outputs.stop(event.call);
    // The words of a prompt are the client's own; those of an older queue it has not seen.
    const echo =
      event.type === "turn_started" &&
      event.ask !== undefined &&
      !this.#prompts.hasQueued(event.ask);
    for (const update of this.#updates.event(event, echo)) this.#outbox.push(update);
    const stays = event.type === "turn_ended" && !endedByItself(event.reason);
    // What follows at once is no wait, and what is queued goes on behind it.
    const { queue, nextAsk } = this.live;
    if (stays && nextAsk === undefined && queue.length > 0) this.#tellQueue(event.seq);
    this.#asks.event(event);
    this.#turns.tell(event);
    if (event.type === "turn_ended") void this.#tellTitle();
  }

  #delta(delta: Delta): void {
    for (const update of this.#updates.delta(delta)) this.#outbox.push(update);
    if (delta.type === "output") this.#outputs.soon(delta.call);
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
}
