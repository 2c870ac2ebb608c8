import * as vscode from "vscode";
import type { Delta, SessionEvent } from "../core/session/events.js";
import type { Core, LiveSession, OpenCard } from "../core/turn/live.js";
import { sessionsHere } from "./folders.js";
import { memory } from "./ids.js";
import { Tracker } from "./tracker.js";

/** A session that is open in this window. */
export interface Opened {
  readonly live: LiveSession;
  readonly tracker: Tracker;
  /** The workspace's root as the session started with it. */
  readonly workspace: string;
}

/** The sessions open in this window, and the one that the chat shows. */
export class Sessions implements vscode.Disposable {
  readonly #open = new Map<string, Opened>();
  readonly #subscriptions = new Map<string, { dispose(): void }[]>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #shownChanged = new vscode.EventEmitter<void>();
  readonly #event = new vscode.EventEmitter<{ opened: Opened; event: SessionEvent }>();
  readonly #delta = new vscode.EventEmitter<{ opened: Opened; delta: Delta }>();
  #shown: Opened | undefined;
  /** Grows with each wish for what the chat shows: what opens late must not take a later wish's place. */
  #wishes = 0;

  /** Anything about any open session: a state, a card, a title. */
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeShown = this.#shownChanged.event;
  readonly onEvent = this.#event.event;
  readonly onDelta = this.#delta.event;

  constructor(
    readonly core: Core,
    private readonly memento: vscode.Memento,
  ) {}

  get shown(): Opened | undefined {
    return this.#shown;
  }

  get all(): readonly Opened[] {
    return [...this.#open.values()];
  }

  get(id: string): Opened | undefined {
    return this.#open.get(id);
  }

  /** Every open card of every open session, oldest first. */
  openCards(): { opened: Opened; card: OpenCard }[] {
    return this.all
      .flatMap((opened) => opened.live.openCards.map((card) => ({ opened, card })))
      .sort((a, b) => a.card.event.at.localeCompare(b.card.event.at));
  }

  /** The open card of this id, and its session. */
  findCard(id: string): { opened: Opened; card: OpenCard } | undefined {
    return this.openCards().find(({ card }) => card.card === id);
  }

  /** Shows the session that was shown last, where it is still there and of this window's folders. */
  async restore(): Promise<void> {
    const id = this.memento.get<string>(memory.shown);
    if (id === undefined || this.#wishes > 0) return;
    const here = await sessionsHere(this.core);
    if (this.#wishes === 0 && here.some((summary) => summary.id === id)) await this.show(id);
  }

  /** Opens a session and shows it, unless something else was to be shown by the time it is open. */
  async show(id: string): Promise<Opened> {
    const wish = ++this.#wishes;
    const opened = this.#open.get(id) ?? (await this.#adopt(await this.core.openSession(id)));
    if (wish === this.#wishes) await this.#setShown(opened);
    return opened;
  }

  /** Starts a session in `root` and shows it, unless something else was to be shown by then. */
  async create(root: string): Promise<Opened> {
    const wish = ++this.#wishes;
    const opened = await this.#adopt(await this.core.newSession(root));
    if (wish === this.#wishes) await this.#setShown(opened);
    return opened;
  }

  /** Shows none: the next message starts a session. */
  async showNone(): Promise<void> {
    this.#wishes++;
    await this.#setShown(undefined);
  }

  async rename(id: string, title: string): Promise<void> {
    await this.core.renameSession(id, title);
    this.#changed.fire();
  }

  /** Opens a session again, in the place of what it was: the right to write to it has come free. */
  async reopen(opened: Opened): Promise<void> {
    const { id } = opened.live;
    if (this.#open.get(id) !== opened) return;
    this.#forget(id);
    await this.core.releaseSession(id);
    const fresh = await this.#adopt(await this.core.openSession(id));
    if (this.#shown === opened) await this.#setShown(fresh);
    else this.#changed.fire();
  }

  /** Closes the session and gives its directory, to be put to the trash. */
  async release(id: string): Promise<string> {
    const directory = await this.core.releaseSession(id);
    this.#forget(id);
    if (this.#shown?.live.id === id) await this.#setShown(undefined);
    this.#changed.fire();
    return directory;
  }

  /** The editor holds the file of a card that has just come up with unsaved changes. */
  markUnsaved(opened: Opened, card: string): void {
    this.#told(opened, { type: "card_changed", card, changed: false, unsaved: true });
  }

  dispose(): void {
    for (const subscriptions of this.#subscriptions.values())
      for (const subscription of subscriptions) subscription.dispose();
    this.#changed.dispose();
    this.#shownChanged.dispose();
    this.#event.dispose();
    this.#delta.dispose();
  }

  async #setShown(opened: Opened | undefined): Promise<void> {
    if (this.#shown !== opened) {
      this.#shown = opened;
      this.#shownChanged.fire();
      this.#changed.fire();
    }
    await this.memento.update(memory.shown, opened?.live.id);
  }

  #told(opened: Opened, delta: Delta): void {
    opened.tracker.delta(delta);
    this.#delta.fire({ opened, delta });
    const shows = ["state", "card_changed", "card_others"].includes(delta.type);
    if (shows) this.#changed.fire();
  }

  #forget(id: string): void {
    for (const subscription of this.#subscriptions.get(id) ?? []) subscription.dispose();
    this.#subscriptions.delete(id);
    this.#open.delete(id);
  }

  async #adopt(live: LiveSession): Promise<Opened> {
    const known = this.#open.get(live.id);
    if (known) return known;
    const started = live.events.find((event) => event.type === "session_started");
    const opened: Opened = {
      live,
      tracker: new Tracker(live),
      workspace: started?.type === "session_started" ? started.workspace : "",
    };
    this.#open.set(live.id, opened);
    this.#subscriptions.set(live.id, [
      live.onEvent((event) => {
        opened.tracker.event(event);
        this.#event.fire({ opened, event });
        this.#changed.fire();
      }),
      live.onDelta((delta) => this.#told(opened, delta)),
    ]);
    return opened;
  }
}
