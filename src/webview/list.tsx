import { Component, createRef, type VNode } from "preact";
import { post, save, saved } from "./host.js";
import { type Item, isSilent } from "./items.js";
import { guessHeight, Row } from "./row.js";
import type { Store } from "./store.js";
import { t } from "./texts.js";
import { windowOf } from "./window.js";

/** Where the view is held: a row's top, this many pixels below the view's. */
interface Pin {
  readonly key: string;
  readonly offset: number;
}

/**
 * Rows that are drawn at once where a session is drawn for the first time: more of them, their code
 * run and their languages loaded for the first time, would hold up a key.
 */
const STEP = 4;

/** Nearer to the end than this counts as at the end, in pixels. */
const NEAR = 24;

function isAtEnd(view: HTMLElement): boolean {
  return view.scrollHeight - view.scrollTop - view.clientHeight < NEAR;
}

/** The transcript of one session: a log of which only what is near the view is in the page. */
export class List extends Component<
  { store: Store; rev: number },
  /** `stuck`: goes with the end as it grows. `end`: the end is in view. */
  { stuck: boolean; top: number; end: boolean }
> {
  override state = { stuck: true, top: 0, end: true };
  readonly #view = createRef<HTMLDivElement>();
  readonly #heights = new Map<string, number>();
  /** Fixed: another session has a list of its own. */
  readonly #session = this.props.store.session;
  #rows: Item[] = [];
  #pin: Pin | undefined;
  /** How many rows may be drawn by now; any number of them once all that there is room for were. */
  #most = 0;
  #growing: ReturnType<typeof setTimeout> | undefined;
  /** Where the view was when it was scrolled last. */
  #top = 0;
  /** The last row, and how many asks were sent, when the page was drawn last. */
  #last: string | undefined;
  #sent = this.props.store.sent;
  #saving: ReturnType<typeof setTimeout> | undefined;
  readonly #resize = new ResizeObserver((entries) => {
    let changed = false;
    for (const entry of entries) {
      const key = entry.target instanceof HTMLElement ? entry.target.dataset.key : undefined;
      if (key === undefined) changed = true;
      else {
        const height = entry.target.getBoundingClientRect().height;
        if (height > 0 && this.#heights.get(key) !== height) {
          this.#heights.set(key, height);
          changed = true;
        }
      }
    }
    if (changed) this.forceUpdate();
  });
  readonly #observed = new Set<Element>();

  override componentDidMount(): void {
    if (this.#view.current) this.#resize.observe(this.#view.current);
    this.#last = this.#rows.at(-1)?.key;
    this.#restore();
    this.#settle();
  }

  override componentDidUpdate(): void {
    this.#settle();
  }

  override componentWillUnmount(): void {
    this.#resize.disconnect();
    clearTimeout(this.#saving);
    clearTimeout(this.#growing);
  }

  #offsetOf(key: string): number | undefined {
    let offset = 0;
    for (const row of this.#rows) {
      if (row.key === key) return offset;
      offset += this.#heights.get(row.key) ?? guessHeight(row);
    }
    return undefined;
  }

  /** After the page was drawn: watch the rows that are in it, and put the view where it belongs. */
  #settle(): void {
    const view = this.#view.current;
    if (!view) return;
    const rows = new Set<Element>(view.querySelectorAll(":scope .row"));
    for (const row of this.#observed)
      if (!rows.has(row)) {
        this.#resize.unobserve(row);
        this.#observed.delete(row);
      }
    for (const row of rows)
      if (!this.#observed.has(row)) {
        this.#resize.observe(row);
        this.#observed.add(row);
      }
    this.#follow();
    this.#takeReveal(view);
    if (this.#pin) {
      const offset = this.#offsetOf(this.#pin.key);
      if (offset !== undefined) view.scrollTop = offset + this.#pin.offset;
    } else if (this.state.stuck) view.scrollTop = view.scrollHeight;
    const end = isAtEnd(view);
    if (end !== this.state.end) this.setState({ end });
    if (this.#most !== Number.POSITIVE_INFINITY) this.#grow();
  }

  /** Draws some more rows, once what was drawn is on the screen. */
  #grow(): void {
    clearTimeout(this.#growing);
    this.#growing = setTimeout(() => {
      this.#most += STEP;
      this.forceUpdate();
    });
  }

  /** What comes anew is followed by who asked for it, and by who was held at a card at the end. */
  #follow(): void {
    const last = this.#rows.at(-1)?.key;
    const { sent } = this.props.store;
    const held = this.#pin !== undefined && this.state.end && last !== this.#last;
    if (sent !== this.#sent || held) {
      this.#pin = undefined;
      this.setState({ stuck: true });
    }
    this.#last = last;
    this.#sent = sent;
  }

  /** The session is shown anew: back to where its reader was. */
  #restore(): void {
    const before = saved().scroll;
    if (before?.session !== this.#session) return;
    if (!this.#rows.some((row) => row.key === before.key)) return;
    this.#pin = { key: before.key, offset: before.offset };
    this.setState({ stuck: false });
  }

  #takeReveal(view: HTMLElement): void {
    const { store } = this.props;
    const { reveal } = store;
    if (!reveal || reveal.target === "composer") return;
    if (this.#most !== Number.POSITIVE_INFINITY) return;
    if (reveal.target === "last") {
      store.reveal = undefined;
      this.#pin = undefined;
      this.setState({ stuck: true });
      const articles = view.querySelectorAll<HTMLElement>("article");
      articles[articles.length - 1]?.focus({ preventScroll: true });
      return;
    }
    const row = reveal.card === undefined ? undefined : store.transcript.rowOfCard(reveal.card);
    if (!row) return;
    const card = view.querySelector<HTMLElement>(`[data-card="${CSS.escape(reveal.card ?? "")}"]`);
    this.#pin = { key: row.key, offset: -8 };
    if (card) {
      store.reveal = undefined;
      // After VS Code has given the page the focus, which puts it where it was before.
      requestAnimationFrame(() => card.focus({ preventScroll: true }));
    }
    this.setState({ stuck: false });
  }

  readonly #onScroll = (): void => {
    const view = this.#view.current;
    if (!view) return;
    const end = isAtEnd(view);
    // What grew below before this was told of has not moved the reader: only a way up lets go.
    const held = this.state.stuck && view.scrollTop >= this.#top;
    this.#top = view.scrollTop;
    this.setState({ top: view.scrollTop, end, stuck: this.#pin ? false : end || held });
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), 150);
  };

  readonly #release = (): void => {
    this.#pin = undefined;
  };

  #save(): void {
    const view = this.#view.current;
    if (!view) return;
    if (this.state.stuck) {
      save({ scroll: undefined });
      return;
    }
    let offset = 0;
    for (const row of this.#rows) {
      const height = this.#heights.get(row.key) ?? guessHeight(row);
      if (offset + height > view.scrollTop) {
        save({
          scroll: { session: this.#session, key: row.key, offset: view.scrollTop - offset },
        });
        return;
      }
      offset += height;
    }
  }

  readonly #earlier = (): void => {
    const { store } = this.props;
    const first = this.#rows[0];
    const view = this.#view.current;
    if (first && view) this.#pin = { key: first.key, offset: view.scrollTop };
    post({ type: "earlier", session: this.#session, before: store.transcript.firstSeq });
  };

  readonly #toEnd = (): void => {
    this.#pin = undefined;
    this.setState({ stuck: true, end: true });
  };

  override render(): VNode {
    const { store } = this.props;
    this.#rows = store.transcript.items.filter((item) => !isSilent(item));
    const heights = this.#rows.map((row) => this.#heights.get(row.key) ?? guessHeight(row));
    // A view that is hidden, or not there yet, has no height; it is drawn as if it had one.
    const height = this.#view.current?.clientHeight || 800;
    const total = heights.reduce((sum, each) => sum + each, 0);
    const pinned = this.#pin ? this.#offsetOf(this.#pin.key) : undefined;
    const top = this.state.stuck ? Math.max(0, total - height) : (pinned ?? this.state.top);
    const range = windowOf(heights, top, height, this.#most);
    if (!range.clipped) this.#most = Number.POSITIVE_INFINITY;
    return (
      <div class="list-frame">
        <div
          ref={this.#view}
          class="list"
          role="log"
          aria-label={t("conversation")}
          aria-live="off"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys
          tabIndex={0}
          onScroll={this.#onScroll}
          onWheel={this.#release}
          onPointerDown={this.#release}
          onKeyDown={this.#release}
        >
          {store.earlier > 0 && (
            <button type="button" class="link earlier" onClick={this.#earlier}>
              {t("earlier")}
            </button>
          )}
          <div style={{ height: `${range.above}px` }} />
          {this.#rows.slice(range.from, range.to).map((item) => (
            <div key={item.key} data-key={item.key} class="row">
              <Row
                item={item}
                rev={item.rev}
                session={this.#session}
                question={store.status?.session?.question ?? null}
                readOnly={store.status?.session?.readOnly != null}
              />
            </div>
          ))}
          <div style={{ height: `${range.below}px` }} />
        </div>
        {!this.state.stuck && !this.state.end && (
          <button type="button" class="to-end secondary" onClick={this.#toEnd}>
            <span class="codicon codicon-arrow-down" aria-hidden="true" /> {t("toEnd")}
          </button>
        )}
      </div>
    );
  }
}
