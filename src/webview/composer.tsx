import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { draftOf, post, saveDraft } from "./host.js";
import { IconButton } from "./parts.js";
import type { Store } from "./store.js";
import { t } from "./texts.js";

/** Why nothing can be sent right now, or undefined. */
function blocked(store: Store): string | undefined {
  const session = store.status?.session;
  if (!session) return undefined;
  if (session.readOnly !== null) return session.readOnly;
  if (session.cards.length > 0) return t("blockCard");
  if (session.question !== null) return t("blockQuestion");
  return undefined;
}

/** Without it the page lays itself out for every key to learn how high the field is: Firefox, on the web. */
const GROWS_ITSELF = CSS.supports("field-sizing", "content");

/** The field for the next message. Enter sends it; it never answers anything. */
export function Composer(props: { store: Store }): VNode {
  const { store } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const [, redraw] = useState(0);
  // What is typed and sent is for the session that is drawn: another may have come in since.
  const shown = store.session;
  const text = draftOf(shown);
  useLayoutEffect(() => {
    const area = field.current;
    if (!area || GROWS_ITSELF) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, 200)}px`;
  }, [text]);
  useEffect(() => {
    if (store.reveal?.target !== "composer") return;
    store.reveal = undefined;
    field.current?.focus();
  });

  const reason = blocked(store);
  const note = reason ?? store.refused;
  const state = store.status?.session?.state;
  const live = state === "running" || state === "waiting";
  const session = store.status?.session;
  const send = () => {
    // Keys and messages that came since the page was drawn count.
    const typed = draftOf(shown);
    if (typed.trim() === "") return;
    const why = shown === store.session ? blocked(store) : reason;
    if (why !== undefined) store.say(why);
    else store.ask(shown, typed);
  };
  return (
    <div class="composer">
      {note !== undefined && (
        <p id="why" class="why">
          <span class="codicon codicon-info" aria-hidden="true" /> {note}{" "}
          {session?.readOnly === null && session.cards[0] !== undefined && (
            <button
              type="button"
              class="link"
              onClick={() => {
                store.reveal = { target: "card", card: session.cards[0] };
                store.say("");
              }}
            >
              {t("showCard")}
            </button>
          )}
        </p>
      )}
      <div class="field">
        <textarea
          ref={field}
          aria-label={t("message")}
          aria-describedby={note === undefined ? undefined : "why"}
          placeholder={t("messageHint")}
          rows={1}
          value={text}
          onInput={(input) => {
            saveDraft(shown, input.currentTarget.value);
            redraw((n) => n + 1);
          }}
          onKeyDown={(key) => {
            if (key.key !== "Enter" || key.shiftKey || key.isComposing) return;
            key.preventDefault();
            if (!key.repeat) send();
          }}
        />
        {live && session?.readOnly === null && (
          <IconButton
            icon="debug-stop"
            label={t("stop")}
            onClick={() => post({ type: "cancel", session: session.id })}
          />
        )}
        <IconButton
          icon="send"
          label={t("send")}
          disabled={reason !== undefined || text.trim() === ""}
          onClick={send}
        />
      </div>
    </div>
  );
}
