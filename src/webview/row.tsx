import { Component, type ComponentChildren, type VNode } from "preact";
import { Call, Reads } from "./call.js";
import { clock } from "./format.js";
import { post } from "./host.js";
import type { Item } from "./items.js";
import { MARKDOWN_LONGEST, Markdown } from "./markdown.js";
import { Icon, LongText, Pre, useFold } from "./parts.js";
import { Question } from "./question.js";
import { endText } from "./store.js";
import { t } from "./texts.js";
import { UndoButton, UndoRow } from "./undoRow.js";

export interface RowProps {
  readonly item: Item;
  readonly rev: number;
  readonly session: string;
  /** The question that is open now, or null. */
  readonly question: string | null;
  /** Nothing can be answered here: another window has the session. */
  readonly readOnly: boolean;
}

/** One row; drawn again only when it has changed. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (
      next.item !== this.props.item ||
      next.rev !== this.props.rev ||
      next.session !== this.props.session ||
      next.question !== this.props.question ||
      next.readOnly !== this.props.readOnly
    );
  }

  override render(props: RowProps): VNode | null {
    const { item, session } = props;
    switch (item.kind) {
      case "user":
        return (
          <Message who={t("you")} kind="user" at={item.at}>
            <div class="plain">
              <LongText text={item.text} />
            </div>
            <Cut cut={item.cut} session={session} seq={item.seq} />
          </Message>
        );
      case "answer":
        return (
          <Message who={t("agent")} kind="agent">
            {item.reasoning !== "" && <Reasoning id={item.key} text={item.reasoning} />}
            {item.live ? (
              <LiveText text={item.text} session={session} />
            ) : (
              <Rich text={item.text} session={session} />
            )}
            {item.short && <p class="warning">{t("truncated")}</p>}
            <Cut cut={item.cut} session={session} seq={item.seq} />
          </Message>
        );
      case "call":
        if (item.call.question)
          return (
            <Question
              item={item.call.question}
              session={session}
              open={!props.readOnly && props.question === item.call.question.event.question}
            />
          );
        return <Call call={item.call} session={session} readOnly={props.readOnly} />;
      case "reads": {
        const only = item.calls.length === 1 ? item.calls[0] : undefined;
        const { readOnly } = props;
        if (only) return <Call call={only} session={session} readOnly={readOnly} />;
        return <Reads calls={item.calls} session={session} id={item.key} readOnly={readOnly} />;
      }
      case "hook": {
        const { event } = item;
        return (
          <div class={`call hook state-${event.exit === 0 ? "ok" : "failed"}`}>
            <div class="call-line">
              <Icon name="shield" /> <span class="tool">{t("hook")}</span>
              <bdi class="subject">{event.argv.join(" ").slice(0, 300)}</bdi>
              <span class="hint">
                {event.exit === 0
                  ? t("hookPassed")
                  : (event.fault ?? t("hookBlocked", event.exit ?? "?"))}
              </span>
            </div>
            {event.exit !== 0 && event.output && (
              <Pre label={t("output")} class="output">
                <LongText text={event.output} limit={4_000} />
              </Pre>
            )}
          </div>
        );
      }
      case "result":
        return (
          <Message who={t("result")} kind="result">
            <Rich text={item.text} session={session} />
            <Cut cut={item.cut} session={session} seq={item.seq} />
          </Message>
        );
      case "end":
        return (
          <p class={`end end-${item.event.reason}`}>
            <span>
              {endText(item.event.reason)} · {clock(item.event.at)}
            </span>
            {item.event.message !== undefined && (
              <span class="end-message">{item.event.message}</span>
            )}
            {item.undone && <span>{t("stateUndone")}</span>}
            {item.canUndo && !item.undone && item.event.turn !== undefined && (
              <UndoButton session={session} kind="turn" id={item.event.turn} redo={false} />
            )}
          </p>
        );
      case "undo":
        return <UndoRow undo={item.undo} undone={item.undone} session={session} />;
      case "note": {
        const { allow } = item.event;
        const what =
          "run" in allow ? allow.run.join(" ") : "write" in allow ? allow.write : allow.read;
        return <p class="end">{t("allowRevoked", what)}</p>;
      }
      default:
        item satisfies never;
        return null;
    }
  }
}

/** A guess at a row's height before it was measured, in pixels. */
export function guessHeight(item: Item): number {
  switch (item.kind) {
    case "user":
      return 56;
    case "answer":
    case "result":
      return 60 + Math.min(4_000, item.text.length / 3);
    case "call":
      return item.call.cards.some((card) => card.state === "open") ? 320 : 28;
    case "reads":
      return 28;
    default:
      return 30;
  }
}

function Message(props: {
  who: string;
  kind: "user" | "agent" | "result";
  at?: string;
  children: ComponentChildren;
}): VNode {
  return (
    <article class={`message ${props.kind}`} aria-label={props.who} tabIndex={-1}>
      <h2 class={props.kind === "agent" ? "unseen" : ""}>
        {props.who}
        {props.at !== undefined && <span class="hint time">{clock(props.at)}</span>}
      </h2>
      {props.children}
    </article>
  );
}

function Cut(props: { cut: boolean; session: string; seq: number }): VNode | null {
  if (!props.cut) return null;
  const { session, seq } = props;
  return (
    <button type="button" class="link" onClick={() => post({ type: "whole", session, seq })}>
      {t("showAll")}
    </button>
  );
}

function Rich(props: { text: string; session: string }): VNode {
  if (props.text.length > MARKDOWN_LONGEST)
    return (
      <div class="plain">
        <LongText text={props.text} />
      </div>
    );
  return <Markdown text={props.text} session={props.session} />;
}

/** Text that still grows: the blocks that are whole are drawn once, the last one each time. */
function LiveText(props: { text: string; session: string }): VNode {
  if (props.text.length > MARKDOWN_LONGEST)
    return <div class="plain">{props.text.slice(-8_000)}</div>;
  return (
    <>
      {blocks(props.text).map((text, index) => (
        <Block key={index} text={text} session={props.session} />
      ))}
    </>
  );
}

class Block extends Component<{ text: string; session: string }> {
  override shouldComponentUpdate(next: { text: string }): boolean {
    return next.text !== this.props.text;
  }
  override render(props: { text: string; session: string }): VNode {
    return <Markdown text={props.text} session={props.session} live />;
  }
}

/** Text cut at blank lines outside of fences. */
function blocks(text: string): string[] {
  const done: string[] = [];
  let from = 0;
  let fence = false;
  for (const match of text.matchAll(/\n[ \t]*\n|(?:^|\n)[ \t]*(?:```|~~~)/g)) {
    if (match[0].endsWith("`") || match[0].endsWith("~")) fence = !fence;
    else if (!fence) {
      const end = match.index + match[0].length;
      done.push(text.slice(from, end));
      from = end;
    }
  }
  done.push(text.slice(from));
  return done;
}

function Reasoning(props: { id: string; text: string }): VNode {
  const [open, toggle] = useFold(`reasoning:${props.id}`, false);
  return (
    <div class="reasoning">
      <button type="button" class="fold" aria-expanded={open} onClick={toggle}>
        <Icon name="lightbulb" /> {t("thinking")}
      </button>
      {open && (
        <div class="plain">
          <LongText text={props.text} limit={8_000} />
        </div>
      )}
    </div>
  );
}
