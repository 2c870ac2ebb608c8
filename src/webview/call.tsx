import type { ComponentChildren, VNode } from "preact";
import { parseAnsi } from "./ansi.js";
import { Argv, OpenCard, SettledCard } from "./card.js";
import { duration } from "./format.js";
import { post } from "./host.js";
import type { CallItem } from "./items.js";
import { FileLink } from "./markdown.js";
import { Icon, IconButton, LongText, Pre, useFold } from "./parts.js";
import { t } from "./texts.js";

const ICONS: Readonly<Record<string, string>> = {
  read_file: "file",
  grep: "search",
  list_dir: "folder",
  search_replace: "edit",
  write_file: "new-file",
  run: "terminal",
  ask: "question",
  finish: "pass",
  use_skill: "mortar-board",
};

/** What a call is about, in one line: its path, pattern or command. */
function subject(call: CallItem): string {
  const args = call.args ?? {};
  const text = (name: string) => (typeof args[name] === "string" ? args[name] : undefined);
  if (Array.isArray(args.argv)) return args.argv.map(String).join(" ");
  const pattern = text("pattern");
  const path = text("path");
  if (pattern !== undefined) return path === undefined ? pattern : `${pattern} · ${path}`;
  return path ?? text("name") ?? (call.tool === "list_dir" ? "." : "");
}

function stateOf(call: CallItem): { icon: string; text: string; spin: boolean } {
  const card = call.cards.at(-1);
  if (card?.state === "open") return { icon: "bell", text: t("stateWaiting"), spin: false };
  if (card?.answered?.answer === "deny" && call.state !== "ok")
    return { icon: "circle-slash", text: t("stateDenied"), spin: false };
  if (call.state === "running") return { icon: "loading", text: t("stateRunning"), spin: true };
  if (call.state === "ok") return { icon: "check", text: t("stateOk"), spin: false };
  if (call.state === "failed") return { icon: "error", text: t("stateFailed"), spin: false };
  return { icon: "circle-outline", text: t("statePending"), spin: false };
}

/** One call: a line that opens, its cards, and a command's output while it runs. */
export function Call(props: { call: CallItem; session: string; readOnly: boolean }): VNode {
  const { call, session } = props;
  const [open, toggle] = useFold(`call:${call.seq}:${call.call}`, false);
  const state = stateOf(call);
  const path = typeof call.args?.path === "string" ? call.args.path : undefined;
  const took =
    call.started && call.ended
      ? duration(Date.parse(call.ended.at) - Date.parse(call.started))
      : undefined;
  return (
    <div class={`call state-${call.state}`}>
      <div class="call-line">
        <button type="button" class="fold" aria-expanded={open} onClick={toggle}>
          <Icon name={ICONS[call.tool] ?? "tools"} /> <span class="tool">{call.tool}</span>{" "}
          <bdi class="subject">{subject(call).slice(0, 300)}</bdi>
        </button>
        {took !== undefined && <span class="hint">{took}</span>}
        {call.undone === true && <span class="hint">{t("stateUndone")}</span>}
        {call.canUndo !== undefined && call.state === "ok" && call.undone !== true && (
          <IconButton
            icon="discard"
            label={t("undoWrite")}
            onClick={() => post({ type: "undo", session, kind: "call", id: call.call })}
          />
        )}
        <span class="call-state" title={state.text}>
          <Icon name={state.icon} spin={state.spin} />
          <span class="unseen">{state.text}</span>
        </span>
      </div>
      {open && (
        <div class="call-body">
          {path !== undefined && (
            <FileLink session={session} path={path}>
              {path.slice(0, 300)}
            </FileLink>
          )}
          {call.byAllow && <p class="hint">{t("byAllow")}</p>}
          <Input call={call} />
          {call.ended && (
            <Block label={t("output")}>
              <Output text={call.ended.result} />
            </Block>
          )}
          {(call.ended?.cut || call.cutArgs) && (
            <button
              type="button"
              class="link"
              onClick={() => {
                if (call.cutArgs) post({ type: "whole", session, seq: call.seq });
                if (call.ended?.cut) post({ type: "whole", session, seq: call.ended.seq });
              }}
            >
              {t("showAll")}
            </button>
          )}
        </div>
      )}
      {call.cards.map((card) =>
        card.state === "open" ? (
          <OpenCard key={card.event.card} session={session} readOnly={props.readOnly} {...card} />
        ) : (
          <SettledCard key={card.event.card} card={card} />
        ),
      )}
      {call.state === "running" && call.output !== "" && (
        <Pre label={t("output")} class="output live">
          <Output text={lastLines(call.output)} />
        </Pre>
      )}
    </div>
  );
}

function Input(props: { call: CallItem }): VNode | null {
  const { args, invalid } = props.call;
  if (invalid !== undefined)
    return (
      <Block label={t("invalidArgs")}>
        <LongText text={invalid} />
      </Block>
    );
  if (!args || Object.keys(args).length === 0) return null;
  const { argv, ...rest } = args;
  return (
    <>
      {Array.isArray(argv) && <Argv argv={argv.map(String)} />}
      {Object.entries(rest).map(([name, value]) => (
        <Block key={name} label={name}>
          <LongText text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
        </Block>
      ))}
    </>
  );
}

function Block(props: { label: string; children: ComponentChildren }): VNode {
  return (
    <div class="block">
      <span class="label">{props.label}</span>
      <Pre label={props.label}>{props.children}</Pre>
    </div>
  );
}

function Output(props: { text: string }): VNode {
  return (
    <>
      {parseAnsi(props.text).map((span, index) =>
        span.style === "" ? (
          <LongText key={index} text={span.text} />
        ) : (
          <span key={index} class={span.style}>
            <LongText text={span.text} />
          </span>
        ),
      )}
    </>
  );
}

/** The last lines of live output: what is in view, and little enough to draw thirty times a second. */
function lastLines(text: string): string {
  return text.slice(-8_000).split("\n").slice(-20).join("\n");
}

/** Reads in a row: one line for all of them. */
export function Reads(props: {
  calls: readonly CallItem[];
  session: string;
  id: string;
  readOnly: boolean;
}): VNode {
  const { calls, session } = props;
  const waiting = calls.some((call) => call.cards.some((card) => card.state === "open"));
  const [open, toggle] = useFold(`reads:${props.id}`, false);
  const running = calls.some((call) => call.state === "running");
  const failed = calls.some((call) => call.state === "failed");
  const state = running
    ? { icon: "loading", text: t("stateRunning") }
    : failed
      ? { icon: "warning", text: t("stateFailed") }
      : { icon: "check", text: t("stateOk") };
  return (
    <div class="reads">
      <div class="call-line">
        <button
          type="button"
          class="fold"
          aria-expanded={open || waiting}
          disabled={waiting}
          onClick={toggle}
        >
          <Icon name="files" /> <span class="tool">{t("reads", calls.length)}</span>{" "}
          <bdi class="subject">{calls.map(subject).join(", ").slice(0, 300)}</bdi>
        </button>
        <span class="call-state" title={state.text}>
          <Icon name={state.icon} spin={running} />
          <span class="unseen">{state.text}</span>
        </span>
      </div>
      {(open || waiting) && (
        <div class="reads-body">
          {calls.map((call) => (
            <Call
              key={`${call.seq}:${call.call}`}
              call={call}
              session={session}
              readOnly={props.readOnly}
            />
          ))}
        </div>
      )}
    </div>
  );
}
