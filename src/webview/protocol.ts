import * as z from "zod/mini";
import type { Delta, EventBody, SessionEvent } from "../core/session/events.js";

/*
 * What the panel and its host say to each other. Both ends parse: the panel shows the words of a
 * model, so its messages are taken for those of a stranger, and an unknown or misshapen one is
 * dropped whole.
 */

const id = z.string().check(z.minLength(1), z.maxLength(200));
const longText = z.string().check(z.maxLength(1_000_000));

/** What a panel may ask the host to run; a closed list, never a command id. */
export const panelCommands = [
  "newSession",
  "openSession",
  "selectModel",
  "setKey",
  "useDemo",
  "openFolder",
  "manageTrust",
  "showAllows",
  "showLog",
  "startTour",
] as const;
/** The commands of VS Code that a panel may run. */
export type PanelCommand = (typeof panelCommands)[number];

const fromPanel = z.discriminatedUnion("type", [
  /** The panel has nothing, or found a hole in the numbering: it wants a snapshot. */
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({ type: z.literal("focus"), on: z.boolean() }),
  /** `session: null` starts a session. `ref` comes back in `asked`. */
  z.strictObject({
    type: z.literal("ask"),
    session: z.nullable(id),
    ref: z.number(),
    text: longText,
  }),
  /** What stands in the composer of a session (null: of the one that is not there yet), unsent. */
  z.strictObject({ type: z.literal("draft"), session: z.nullable(id), text: longText }),
  z.strictObject({
    type: z.literal("answer"),
    session: id,
    card: id,
    answer: z.enum(["allow_once", "allow_session", "deny"]),
    note: z.optional(z.string().check(z.maxLength(10_000))),
    /** SHA-256 of the text that was shown as what would be written; absent: the proposal. */
    shown: z.optional(z.string().check(z.regex(/^[0-9a-f]{64}$/))),
  }),
  z.strictObject({
    type: z.literal("answerQuestion"),
    session: id,
    question: id,
    text: longText,
  }),
  z.strictObject({ type: z.literal("revert"), session: id, card: id }),
  z.strictObject({ type: z.literal("openDiff"), session: id, card: id }),
  z.strictObject({ type: z.literal("showCard"), session: id, card: id }),
  z.strictObject({ type: z.literal("saveFile"), session: id, card: id }),
  z.strictObject({ type: z.literal("withdraw"), session: id, ask: id }),
  z.strictObject({ type: z.literal("goOn"), session: id }),
  z.strictObject({ type: z.literal("cancel"), session: id }),
  /** The user wants to take something back; the host shows a list first. */
  z.strictObject({
    type: z.literal("undo"),
    session: id,
    kind: z.enum(["turn", "call", "undo"]),
    id,
  }),
  z.strictObject({
    type: z.literal("openFile"),
    session: id,
    path: z.string().check(z.minLength(1), z.maxLength(4_096)),
    line: z.optional(z.int().check(z.minimum(1), z.maximum(100_000_000))),
  }),
  /** The events before the first one the panel has. */
  z.strictObject({ type: z.literal("earlier"), session: id, before: z.int().check(z.minimum(0)) }),
  /** One event whole, where the panel was given a cut one. */
  z.strictObject({ type: z.literal("whole"), session: id, seq: z.int().check(z.minimum(0)) }),
  z.strictObject({ type: z.literal("command"), command: z.enum(panelCommands) }),
]);
/** What a panel says. The page is not trusted: this is parsed. */
export type FromPanel = z.infer<typeof fromPanel>;

const usage = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number(),
  estimated: z.boolean(),
});
export type Tokens = z.infer<typeof usage>;

const status = z.object({
  folders: z.number(),
  trusted: z.boolean(),
  model: z.nullable(z.object({ label: z.string(), demo: z.boolean() })),
  session: z.nullable(
    z.object({
      id: z.string(),
      title: z.string(),
      folder: z.string(),
      state: z.enum(["idle", "running", "waiting", "interrupted"]),
      readOnly: z.nullable(z.string()),
      /** Why the last event could not be saved, until one can be again. */
      trouble: z.nullable(z.string()),
      /** Lines of the log that could not be read, each after that many events. */
      damage: z.array(z.object({ after: z.number(), reason: z.string() })),
      queue: z.array(z.object({ ask: z.string(), text: z.string() })),
      cards: z.array(z.string()),
      question: z.nullable(z.string()),
      allows: z.number(),
      /** ISO 8601; when the live turn began. */
      since: z.nullable(z.string()),
      tokens: usage,
    }),
  ),
});
/** What the user made of a proposal. */
export type CardEdited = Extract<EventBody, { type: "card_edited" }>;

/** What is so right now, beside the events. */
export type Status = z.infer<typeof status>;

/**
 * An event as the panel shows it: what nobody reads there is left out, long texts are cut (then
 * `cut` is true, and `whole` brings the rest).
 */
export type ViewEvent = SessionEvent & { readonly cut?: boolean };

/*
 * Events and deltas were parsed where they entered (the log, the model); from the host, which is
 * trusted, the panel checks their envelope.
 */
const viewEvent = z.custom<ViewEvent>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "seq") === "number" &&
    typeof Reflect.get(value, "type") === "string",
);
const delta = z.custom<Delta>(
  (value) =>
    typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string",
);

const part = z.union([z.object({ event: viewEvent }), z.object({ delta }), z.object({ status })]);
export type Part = z.infer<typeof part>;

const cardEdit = z.custom<CardEdited>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Reflect.get(value, "type") === "card_edited" &&
    typeof Reflect.get(value, "digest") === "string",
);

const approval = z.object({
  session: z.string(),
  title: z.string(),
  event: viewEvent,
  edit: z.optional(cardEdit),
  changed: z.boolean(),
  unsaved: z.boolean(),
  /** Cards of other sessions for the same file. */
  others: z.array(z.object({ session: z.string(), title: z.string(), card: z.string() })),
});
/** One open card of any open session. */
export type Approval = z.infer<typeof approval>;

const toPanel = z.discriminatedUnion("type", [
  /** Everything, from which batches go on: the first batch after it has `n: 1`. */
  z.object({
    type: z.literal("snapshot"),
    texts: z.record(z.string(), z.string()),
    /** Unsent texts by session id; "" is the session that is not there yet. */
    drafts: z.record(z.string(), z.string()),
    status,
    events: z.array(viewEvent),
    /** How many events there are before the first of `events`. */
    earlier: z.number(),
    /** The live deltas up to now, gathered. */
    deltas: z.array(delta),
  }),
  z.object({ type: z.literal("batch"), n: z.number(), parts: z.array(part) }),
  z.object({
    type: z.literal("earlier"),
    session: z.string(),
    events: z.array(viewEvent),
    earlier: z.number(),
  }),
  z.object({ type: z.literal("whole"), session: z.string(), event: viewEvent }),
  /** What became of an ask; one that was refused goes back into the composer. */
  z.object({ type: z.literal("asked"), ref: z.number(), refused: z.nullable(z.string()) }),
  /** A line for the status region. */
  z.object({ type: z.literal("say"), text: z.string() }),
  z.object({
    type: z.literal("reveal"),
    target: z.enum(["composer", "last", "card"]),
    card: z.optional(z.string()),
    text: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("approvals"),
    texts: z.record(z.string(), z.string()),
    cards: z.array(approval),
  }),
]);
/** What a panel is told. */
export type ToPanel = z.infer<typeof toPanel>;

/** A panel's message, or undefined where it is none of ours. */
export function parseFromPanel(message: unknown): FromPanel | undefined {
  return fromPanel.safeParse(message).data;
}

/** The host's message, or undefined where it is none of ours. */
export function parseToPanel(message: unknown): ToPanel | undefined {
  return toPanel.safeParse(message).data;
}
