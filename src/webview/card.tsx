import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer, EventOf, OtherCard, Surface } from "../core/session/events.js";
import { Diff } from "./diff.js";
import { clock, isPlainArgv, number } from "./format.js";
import { noteOf, post } from "./host.js";
import type { CardItem } from "./items.js";
import { Icon, LongText, Pre, useFold, useNote } from "./parts.js";
import type { CardEdited } from "./protocol.js";
import { answerText } from "./store.js";
import { t } from "./texts.js";

type Raised = EventOf<"card_raised"> & { readonly cut?: boolean };

/**
 * A card's buttons wait this long before they can be pressed, in milliseconds: the second click of
 * a double click must not answer a card that came up under the pointer.
 */
const ARM_MS = 400;

/** What the card is about, in one line. */
function cardSubject(event: Raised): string {
  if (event.kind === "run") return (event.argv ?? []).join(" ");
  return event.relative ?? event.path ?? "";
}

/** An open card: what, why, and the buttons that answer it. It never takes the focus. */
export function OpenCard(props: {
  session: string;
  event: Raised;
  changed: boolean;
  unsaved: boolean;
  /** Cards of other sessions for the same file. */
  others: readonly OtherCard[];
  /** Another window has the session, and the buttons with it. */
  readOnly?: boolean;
  /** What the user made of the proposal. */
  edit?: CardEdited | undefined;
  /** In Approvals: the session's title, and no field for a reason. */
  title?: string;
}): VNode {
  const { event, session, edit } = props;
  const proposed = edit === undefined ? event : { ...event, ...shownOf(edit) };
  const nothingLeft =
    edit !== undefined && (event.digest === null ? edit.bytesAfter === 0 : edit.diff === "");
  const [note, setNote] = useNote(event.card);
  const [armed, setArmed] = useState(false);
  const [sent, setSent] = useState(false);
  useEffect(() => {
    // A text that has just come up under the pointer is not approved by that click.
    setArmed(false);
    setSent(false);
    const timer = setTimeout(() => setArmed(true), ARM_MS);
    return () => clearTimeout(timer);
  }, [edit?.digest]);
  const subject = cardSubject(event);
  const answer = (given: Answer) => {
    setSent(true);
    const reason = noteOf(event.card).trim();
    setNote("");
    post({
      type: "answer",
      session,
      card: event.card,
      answer: given,
      ...(edit === undefined ? {} : { shown: edit.digest }),
      ...(given === "deny" && reason !== "" ? { note: reason } : {}),
    });
    // An answer that did not count leaves the card up, and its buttons have to work again.
    setTimeout(() => setSent(false), 2_000);
  };
  const off = !armed || sent;
  const name = t("permission", subject.length > 200 ? `${subject.slice(0, 200)}…` : subject);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend is laid out by the browser
    <div class="card" role="group" aria-label={name} data-card={event.card} tabIndex={-1}>
      {props.title !== undefined && <p class="card-session">{props.title}</p>}
      <p class="card-what">
        <Icon name={event.kind === "run" ? "terminal" : event.kind === "read" ? "eye" : "edit"} />{" "}
        <strong>{heading(event)}</strong>
      </p>
      {(event.reasons ?? []).map((reason) => (
        <p key={reason} class="warning">
          <Icon name="warning" /> {reason}
        </p>
      ))}
      {event.given !== undefined && <p class="hint">{t("given", event.given)}</p>}
      {edit !== undefined && (
        <p class="edited">
          <Icon name="edit" /> {t(nothingLeft ? "nothingLeft" : "edited")}{" "}
          <button
            type="button"
            class="secondary"
            onClick={() => post({ type: "revert", session, card: event.card })}
          >
            {t("revertEdits")}
          </button>
        </p>
      )}
      {event.kind === "write" && <Size event={proposed} />}
      {event.argv && <Argv argv={event.argv} />}
      {event.timeout !== undefined && <p class="hint">{t("timeLimit", event.timeout)}</p>}
      {proposed.diff !== undefined && proposed.diff !== "" && (
        <Diff
          id={event.card}
          diff={proposed.diff}
          cut={proposed.diffCut === true || event.cut === true}
        />
      )}
      {props.unsaved ? (
        <p class="warning">
          <Icon name="warning" /> {t("fileUnsaved")}{" "}
          <button
            type="button"
            class="secondary"
            onClick={() => post({ type: "saveFile", session, card: event.card })}
          >
            {t("save")}
          </button>
        </p>
      ) : (
        props.changed && (
          <p class="warning">
            <Icon name="warning" /> {t("fileChanged")}
          </p>
        )
      )}
      {props.others.map((other) => (
        <p key={other.card} class="warning">
          <Icon name="versions" /> {t("fileShared", other.title)}{" "}
          <button
            type="button"
            class="secondary"
            onClick={() => post({ type: "openDiff", session: other.session, card: other.card })}
          >
            {t("showOtherDiff")}
          </button>
        </p>
      ))}
      {props.readOnly && (
        <p class="hint">
          <Icon name="lock" /> {t("cardElsewhere")}
        </p>
      )}
      <div class="buttons" hidden={props.readOnly === true}>
        <button type="button" class="primary" disabled={off} onClick={() => answer("allow_once")}>
          {t("approve")}
        </button>
        <button
          type="button"
          class="secondary"
          disabled={off}
          onClick={() => answer("allow_session")}
        >
          {t("approveSession")}
        </button>
        <button type="button" class="secondary" disabled={off} onClick={() => answer("deny")}>
          {t("deny")}
        </button>
        <input
          type="text"
          class="reason"
          aria-label={t("denyReason")}
          placeholder={t("denyReason")}
          maxLength={2_000}
          value={note}
          onInput={(input) => setNote(input.currentTarget.value)}
        />
        {event.kind === "write" && (
          <button
            type="button"
            class="secondary"
            onClick={() => post({ type: "openDiff", session, card: event.card })}
          >
            {t("openDiff")}
          </button>
        )}
        {props.title !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => post({ type: "showCard", session, card: event.card })}
          >
            {t("showInChat")}
          </button>
        )}
      </div>
    </div>
  );
}

/** What an edit says in the place of the proposal. */
function shownOf({ diff, diffCut, added, removed, bytesAfter }: CardEdited) {
  return { diff, diffCut: diffCut === true, added, removed, bytesAfter };
}

function heading(event: Raised): string {
  const subject = event.relative ?? event.path ?? "";
  if (event.kind === "run") return t("cardRun");
  if (event.kind === "read") return t("cardRead", subject);
  return event.digest === null ? t("cardCreate", subject) : t("cardWrite", subject);
}

function Size(props: { event: Raised }): VNode {
  const { added, removed, bytesBefore, bytesAfter } = props.event;
  const after = number(bytesAfter ?? 0);
  return (
    <p class="hint">
      {t("lines", number(added ?? 0), number(removed ?? 0))} ·{" "}
      {bytesBefore === null || bytesBefore === undefined
        ? t("bytesNew", after)
        : t("bytes", number(bytesBefore), after)}
    </p>
  );
}

/** One argument a line wherever a blank or a quote could make it read as something else. */
export function Argv(props: { argv: readonly string[] }): VNode {
  if (isPlainArgv(props.argv))
    return (
      <Pre label={t("command")} class="argv">
        {props.argv.join(" ")}
      </Pre>
    );
  return (
    <ol class="argv" start={0} aria-label={t("command")}>
      {props.argv.map((argument, index) => (
        <li key={index}>
          <code>{argument === "" ? '""' : <LongText text={argument} limit={2_000} />}</code>
        </li>
      ))}
    </ol>
  );
}

/** A card that was answered or is gone: one line. */
export function SettledCard(props: { card: CardItem }): VNode {
  const { state, answered, edit } = props.card;
  const event = edit === undefined ? props.card.event : { ...props.card.event, ...shownOf(edit) };
  const [open, toggle] = useFold(`card:${event.card}`, false);
  const icon =
    state === "spent" ? "history" : answered?.answer === "deny" ? "circle-slash" : "check";
  let text = state === "spent" ? t("cardSpent") : t("cardWithdrawn");
  if (state === "answered" && answered)
    text = `${answeredText(answered)} · ${clock(answered.at)} · ${surfaceText(answered.surface)}`;
  return (
    <div class="settled">
      <button type="button" class="fold" aria-expanded={open} onClick={toggle}>
        <Icon name={state === "withdrawn" ? "close" : icon} /> {text}
        {answered?.note ? `: ${answered.note}` : ""}
      </button>
      {open && (
        <div class="settled-body">
          {event.kind === "write" && <Size event={event} />}
          {event.argv && <Argv argv={event.argv} />}
          {event.diff && <Diff id={event.card} diff={event.diff} cut={event.diffCut === true} />}
        </div>
      )}
    </div>
  );
}

function answeredText({ answer, digest, nothingLeft }: EventOf<"card_answered">): string {
  if (nothingLeft === true) return t("answeredNothingLeft");
  if (digest === undefined) return answerText(answer);
  return t(answer === "allow_once" ? "answeredOnceEdited" : "answeredSessionEdited");
}

function surfaceText(surface: Surface | undefined): string {
  const texts = {
    chat: "surfaceChat",
    approvals: "surfaceApprovals",
    lens: "surfaceLens",
    title: "surfaceTitle",
    command: "surfaceCommand",
    status: "surfaceStatus",
    acp: "surfaceOther",
    test: "surfaceOther",
  } as const;
  return t(surface === undefined ? "surfaceOther" : texts[surface]);
}
