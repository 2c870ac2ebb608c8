import "./style.css";
import { options, render, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as z from "zod/mini";
import { Activity, Banners, Empty, Footer, Header, Queue } from "./bars.js";
import { OpenCard } from "./card.js";
import { Composer } from "./composer.js";
import { post } from "./host.js";
import { List } from "./list.js";
import type { Approval } from "./protocol.js";
import { Store } from "./store.js";
import { t } from "./texts.js";

// Compiled schemas would need 'unsafe-eval', which the panel's policy does not give.
z.config({ jitless: true });

// To take a message in is one task, to draw what it changed another: neither holds a key up for long.
options.debounceRendering = (draw) => setTimeout(draw);

const store = new Store();

function App(): VNode {
  const [rev, redraw] = useState(0);
  useEffect(() => store.onChange(() => redraw((n) => n + 1)), []);
  return (
    <>
      {store.approvals ? <Approvals cards={store.approvals} /> : <Chat rev={rev} />}
      <div class="unseen" role="status" aria-live="polite">
        {store.said}
      </div>
    </>
  );
}

function Chat(props: { rev: number }): VNode | null {
  const { status } = store;
  if (!status) return null;
  const { session } = status;
  const empty = store.transcript.items.length === 0;
  return (
    <div class="chat">
      <Header session={session} folders={status.folders} />
      <Banners status={status} />
      {empty && <Empty status={status} />}
      <List key={store.session} store={store} rev={props.rev} />
      {session && <Activity store={store} session={session} />}
      {session && <Queue session={session} />}
      {status.folders > 0 && <Composer store={store} />}
      <Footer status={status} />
    </div>
  );
}

function Approvals(props: { cards: readonly Approval[] }): VNode {
  if (props.cards.length === 0) return <p class="hint none">{t("noCards")}</p>;
  return (
    <div class="approvals">
      {props.cards.map((card) => (
        <OpenCard
          key={card.event.type === "card_raised" ? card.event.card : ""}
          session={card.session}
          event={raised(card)}
          edit={card.edit}
          changed={card.changed}
          unsaved={card.unsaved}
          others={card.others}
          title={card.title}
        />
      ))}
    </div>
  );
}

function raised(card: Approval) {
  if (card.event.type !== "card_raised") throw new Error("an approval is an open card");
  return card.event;
}

window.addEventListener("message", (message) => store.receive(message.data));
let used = false;
for (const kind of ["pointerdown", "keydown"] as const)
  window.addEventListener(
    kind,
    () => {
      used = true;
    },
    true,
  );
window.addEventListener("focus", () => {
  post({ type: "focus", on: true });
  // Someone who comes by the keyboard for the first time comes to write, unless it was to a card.
  if (!used)
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) document.querySelector("textarea")?.focus();
    });
  used = true;
});
window.addEventListener("blur", () => post({ type: "focus", on: false }));

const root = document.getElementById("root");
if (root) render(<App />, root);

/** How long a page waits for what it shows before it asks again, in milliseconds. */
const ASK_AGAIN_MS = 500;

/** Asks for what there is to show, until it is there: a message to or from a page that comes up may be lost. */
function askForAll(): void {
  if (store.status || store.approvals) return;
  post({ type: "ready" });
  setTimeout(askForAll, ASK_AGAIN_MS);
}
askForAll();
