import type { VNode } from "preact";
import { duration, number, short } from "./format.js";
import { post } from "./host.js";
import { CommandButton, Icon, IconButton, useNow } from "./parts.js";
import type { Status } from "./protocol.js";
import { endText, type Store } from "./store.js";
import { t } from "./texts.js";

type Session = NonNullable<Status["session"]>;

/** The session's name and state. */
export function Header(props: { session: Session | null; folders: number }): VNode {
  const { session } = props;
  return (
    <header class="bar">
      <h1>
        <bdi>{session?.title || t("newSession")}</bdi>
        {session && props.folders > 1 && <span class="hint"> · {session.folder}</span>}
      </h1>
      {session && (
        <span class={`state state-${session.state}`}>
          <Icon name={stateIcon(session.state)} spin={session.state === "running"} />{" "}
          {t(session.state)}
        </span>
      )}
      {session && session.allows > 0 && (
        <button
          type="button"
          class="link"
          onClick={() => post({ type: "command", command: "showAllows" })}
        >
          {t("allows", session.allows)}
        </button>
      )}
    </header>
  );
}

function stateIcon(state: Session["state"]): string {
  if (state === "running") return "loading";
  if (state === "waiting") return "bell";
  return state === "interrupted" ? "debug-disconnect" : "circle-outline";
}

/** Ends of a turn after which "Go on" goes on with it. */
const CUT_SHORT: ReadonlySet<string> = new Set(["failed", "interrupted", "limit"]);

/** What goes on: time, what it waits for, the count-down of a retry; or a way to go on. */
export function Activity(props: { store: Store; session: Session }): VNode | null {
  const { session, store } = props;
  const running = session.state === "running";
  const now = useNow(1_000, running);
  const { retry } = store.transcript;
  const last = store.transcript.items.at(-1);
  const reason = last?.kind === "end" ? last.event.reason : undefined;
  const cutShort = session.state === "idle" && reason !== undefined && CUT_SHORT.has(reason);
  if (session.state === "interrupted" || cutShort)
    return (
      <div class="activity">
        <span>
          <Icon name="debug-disconnect" /> {cutShort && reason ? endText(reason) : t("interrupted")}
        </span>
        <button
          type="button"
          class="primary"
          disabled={session.readOnly !== null}
          onClick={() => post({ type: "goOn", session: session.id })}
        >
          {t("goOn")}
        </button>
      </div>
    );
  if (!running) return null;
  const seconds = retry ? Math.ceil((Date.parse(retry.at) - now) / 1_000) : 0;
  return (
    <div class="activity">
      <span>
        <Icon name="loading" spin /> {t("working")}
        {session.since !== null && ` · ${duration(now - Date.parse(session.since))}`}
      </span>
      {retry && (
        <span class="warning">
          {seconds > 0 ? t("retry", seconds, retry.reason) : t("retryNow", retry.reason)}
        </span>
      )}
    </div>
  );
}

/** Asks that wait for the live turn. */
export function Queue(props: { session: Session }): VNode | null {
  const { session } = props;
  if (session.queue.length === 0) return null;
  return (
    <section class="queue">
      <h2>{t("queued")}</h2>
      <ul aria-label={t("queued")}>
        {session.queue.map(({ ask, text }) => (
          <li key={ask}>
            <span class="plain">{text.length > 200 ? `${text.slice(0, 200)}…` : text}</span>
            <IconButton
              icon="close"
              label={t("takeBack")}
              onClick={() => post({ type: "withdraw", session: session.id, ask })}
            />
          </li>
        ))}
      </ul>
      {session.state === "idle" && (
        <button
          type="button"
          class="primary"
          onClick={() => post({ type: "goOn", session: session.id })}
        >
          {t("sendOn")}
        </button>
      )}
    </section>
  );
}

/** The model and the tokens, under the composer. */
export function Footer(props: { status: Status }): VNode {
  const { model, session } = props.status;
  const tokens = session?.tokens;
  return (
    <footer class="bar foot">
      <button
        type="button"
        class="link"
        onClick={() => post({ type: "command", command: "selectModel" })}
      >
        {model ? t("model", model.label) : t("noModel")}
      </button>
      {tokens && tokens.input + tokens.output > 0 && (
        <span
          class="hint"
          title={t(
            "tokensTitle",
            number(tokens.input),
            number(tokens.cached),
            number(tokens.output),
          )}
        >
          {tokens.estimated ? "≈ " : ""}
          {t("tokens", short(tokens.input), short(tokens.output))}
        </span>
      )}
    </footer>
  );
}

/** What to do where there is nothing to see yet. */
export function Empty(props: { status: Status }): VNode {
  const { folders, model } = props.status;
  if (folders === 0)
    return (
      <div class="empty">
        <Icon name="folder-opened" />
        <h2>{t("noFolderTitle")}</h2>
        <p>{t("noFolderText")}</p>
        <CommandButton command="openFolder" primary>
          {t("openFolder")}
        </CommandButton>
      </div>
    );
  if (!model)
    return (
      <div class="empty">
        <Icon name="hubot" />
        <h2>{t("noModelTitle")}</h2>
        <p>{t("noModelText")}</p>
        <CommandButton command="selectModel" primary>
          {t("selectModel")}
        </CommandButton>
        <CommandButton command="useDemo">{t("useDemo")}</CommandButton>
      </div>
    );
  return (
    <div class="empty">
      <Icon name="workspace-trusted" />
      <h2>{t("firstTitle")}</h2>
      <p>{t("firstText")}</p>
      <CommandButton command="startTour" primary={model.demo}>
        {t("startTour")}
      </CommandButton>
    </div>
  );
}

/** Lines above the transcript that stay: no trust, the demo. */
export function Banners(props: { status: Status }): VNode {
  const { status } = props;
  const { session } = status;
  return (
    <>
      {session?.trouble && (
        <div class="banner" role="alert">
          <span class="warning">
            <Icon name="error" /> {session.trouble}
          </span>
        </div>
      )}
      {session && session.damage.length > 0 && (
        <div class="banner">
          <span class="warning">
            <Icon name="warning" />{" "}
            {t("damage", session.damage.length, session.damage[0]?.reason ?? "")}
          </span>
        </div>
      )}
      {!status.trusted && status.folders > 0 && (
        <div class="banner">
          <span>
            <Icon name="workspace-untrusted" /> {t("untrustedText")}
          </span>
          <CommandButton command="manageTrust">{t("manageTrust")}</CommandButton>
        </div>
      )}
      {status.model?.demo && status.folders > 0 && (
        <div class="banner">
          <span>
            <Icon name="beaker" /> {t("demoNote")}
          </span>
          <button
            type="button"
            class="link"
            onClick={() => post({ type: "command", command: "selectModel" })}
          >
            {t("setUpModel")}
          </button>
        </div>
      )}
    </>
  );
}
