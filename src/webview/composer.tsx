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
  const [text, setText] = useState(draftOf(store.session));
  useEffect(() => setText(draftOf(store.session)), [store.session, store.draftRev]);
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
    if (text.trim() === "") return;
    if (reason !== undefined) store.say(reason);
    else store.ask(text);
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
            setText(input.currentTarget.value);
            saveDraft(store.session, input.currentTarget.value);
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
