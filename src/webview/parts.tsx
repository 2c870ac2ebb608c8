import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { number } from "./format.js";
import { noteOf, post, saveNote } from "./host.js";
import type { PanelCommand } from "./protocol.js";
import { t } from "./texts.js";

/** One of VS Code's icons, silent for screen readers: a name beside it says what it stands for. */
export function Icon(props: { name: string; spin?: boolean }): VNode {
  const spin = props.spin ? " codicon-modifier-spin" : "";
  return <span class={`codicon codicon-${props.name}${spin}`} aria-hidden="true" />;
}

/** A button that is only an icon, with its name for those who do not see it. */
export function IconButton(props: {
  icon: string;
  label: string;
  onClick: () => void;
  disabled?: boolean;
}): VNode {
  return (
    <button
      type="button"
      class={`icon codicon codicon-${props.icon}`}
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled === true}
      onClick={props.onClick}
    />
  );
}

/** Text in the fixed font in a box of its own that scrolls, also from the keyboard. */
export function Pre(props: { label: string; class?: string; children: ComponentChildren }): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend is laid out by the browser; a section would be a landmark, of which a page may have hundreds
    <div
      class={`pre ${props.class ?? ""}`}
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys
      tabIndex={0}
    >
      <pre>{props.children}</pre>
    </div>
  );
}

/** A button that has the host run one of the commands that a panel may name. */
export function CommandButton(props: {
  command: PanelCommand;
  primary?: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    <button
      type="button"
      class={props.primary ? "primary" : "secondary"}
      onClick={() => post({ type: "command", command: props.command })}
    >
      {props.children}
    </button>
  );
}

const STEP = 20_000;

/** Text as it is, its first part only where it is very long. */
export function LongText(props: { text: string; limit?: number }): VNode {
  const limit = props.limit ?? STEP;
  const [shown, setShown] = useState(limit);
  const left = props.text.length - shown;
  if (left <= 0) return <>{props.text}</>;
  return (
    <>
      {props.text.slice(0, shown)}
      <button type="button" class="link more" onClick={() => setShown(shown + STEP)}>
        {t("showMore", number(left))}
      </button>
    </>
  );
}

/** The time, anew every `ms`, for whatever counts. */
export function useNow(ms: number, on = true): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!on) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), ms);
    return () => clearInterval(timer);
  }, [ms, on]);
  return now;
}

const open = new Map<string, boolean>();

/** Whether a fold is open; kept while its row is out of the page. */
export function useFold(key: string, initially: boolean): [boolean, () => void] {
  const [, redraw] = useState(0);
  const now = open.get(key) ?? initially;
  return [
    now,
    () => {
      open.set(key, !now);
      redraw((n) => n + 1);
    },
  ];
}

/**
 * A text field that keeps what was typed over reloads, under `key`. The text is what is drawn: whoever
 * sends it takes `noteOf(key)`, since keys may have come since then.
 */
export function useNote(key: string): [string, (text: string) => void] {
  const [, redraw] = useState(0);
  return [
    noteOf(key),
    (text) => {
      saveNote(key, text);
      redraw((n) => n + 1);
    },
  ];
}
