import type {
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import * as z from "zod";
import type { Answer, OtherCard } from "../core/session/events.js";
import type { OpenCard, OpenQuestion } from "../core/turn/live.js";
import { cardFace } from "./calls.js";
import { block, commandLine, fenced, hidesSomething, oneLine, plain } from "./show.js";

/** What a client's answer to a request comes to. Anything that is no answer is never a yes. */
export type Outcome<T> = { readonly answer: T; readonly note?: string } | { readonly none: string };

const meta = z
  .looseObject({ note: z.string().optional().catch(undefined) })
  .nullish()
  .catch(undefined);
/** A client's response as it comes off the wire, which nothing has checked before. */
const responseSchema = z.object({
  outcome: z.discriminatedUnion("outcome", [
    z.object({ outcome: z.literal("cancelled") }),
    z.object({ outcome: z.literal("selected"), optionId: z.string(), _meta: meta }),
  ]),
  _meta: meta,
});

type Selected = { readonly optionId: string; readonly note: string | undefined };

function selected(response: unknown): Outcome<Selected> {
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) return { none: "the client's answer is not one the protocol has" };
  const { outcome } = parsed.data;
  if (outcome.outcome === "cancelled") return { none: "the client cancelled the request" };
  const note = (outcome._meta?.note ?? parsed.data._meta?.note)?.trim();
  return { answer: { optionId: outcome.optionId, note: note || undefined } };
}

function noOption(id: string): { none: string } {
  return { none: `the client answered ${JSON.stringify(id)}, which is none of the options` };
}

const CARD_OPTIONS: readonly (PermissionOption & { readonly optionId: Answer })[] = [
  { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
  { optionId: "allow_session", kind: "allow_always", name: "Allow for this session" },
  { optionId: "deny", kind: "reject_once", name: "Deny" },
];

/** The texts of a write as a client's diff shows them. */
export function cardTexts(
  card: OpenCard,
): { path: string; before: string | null; after: string } | undefined {
  const { path } = card.event;
  const after = card.edit?.after ?? card.after;
  if (card.event.kind !== "write" || path === undefined || after === null) return undefined;
  const decode = (bytes: Uint8Array): string =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return {
    path,
    before: card.before === null ? null : decode(card.before),
    after: decode(after),
  };
}

/** A card as `session/request_permission`; `rawInput` is what the model gave to its call. */
export function cardRequest(
  sessionId: string,
  card: OpenCard,
  rawInput: unknown,
): RequestPermissionRequest {
  return {
    sessionId,
    toolCall: {
      toolCallId: card.call,
      name: card.event.tool,
      status: "pending",
      ...cardFace(card.event),
      rawInput,
      content: cardContent(card),
    },
    options: [...CARD_OPTIONS],
  };
}

/** What is said of a card while it is up: that its file is not the one it shows, or is again. */
export function cardChanged(card: OpenCard, changed: boolean): ToolCallContent[] {
  const note = block(
    "The file has changed since this card was made. Allowing it changes nothing: a new card comes with the diff as it is then.",
  );
  return changed ? [note, ...cardContent(card)] : cardContent(card);
}

/** What an edit says of the text in the place of the proposal. */
function sizeOf({ diff, added, removed, bytesAfter }: NonNullable<OpenCard["edit"]>["event"]) {
  return { diff, added, removed, bytesAfter };
}

/** The card's content again, with the other sessions of this agent that propose a change of its file. */
export function cardShared(card: OpenCard, others: readonly OtherCard[]): ToolCallContent[] {
  const titles = others.map(({ title }) => `"${oneLine(title, 100)}"`).join(", ");
  const note = block(
    `Another session has a card for this file too: ${titles}. Whichever lands first, the other is made anew.`,
  );
  return others.length > 0 ? [note, ...cardContent(card)] : cardContent(card);
}

function cardContent(card: OpenCard): ToolCallContent[] {
  const event = { ...card.event, ...(card.edit === undefined ? {} : sizeOf(card.edit.event)) };
  const content: ToolCallContent[] = [];
  const texts = cardTexts(card);
  if (texts !== undefined) {
    content.push({ type: "diff", path: texts.path, oldText: texts.before, newText: texts.after });
    // A client's diff view draws text as it is; what it would not draw is shown beside it.
    const hidden = hidesSomething(texts.after) || hidesSomething(texts.before ?? "");
    if (event.diff !== undefined && (hidden || event.proposedEncoding === "base64")) {
      content.push(block(fenced(event.diff, "diff")));
    }
  }
  const lines: string[] = [];
  if (event.kind === "run") {
    lines.push(commandLine(event.argv ?? []));
    if (event.timeout !== undefined) lines.push(`time limit: ${event.timeout} s`);
  } else if (event.path !== undefined) {
    lines.push(oneLine(event.path, Number.MAX_SAFE_INTEGER));
    if (event.given !== undefined)
      lines.push(`given as ${oneLine(event.given, Number.MAX_SAFE_INTEGER)}`);
  }
  if (event.kind === "write" && event.bytesAfter !== undefined) {
    const before = event.bytesBefore == null ? "no file" : `${event.bytesBefore} bytes`;
    const changed = `${event.added ?? 0} lines added, ${event.removed ?? 0} removed`;
    lines.push(`${before} before, ${event.bytesAfter} bytes after; ${changed}`);
  }
  content.push(block(fenced(lines.join("\n"))));
  if (event.replaces !== undefined) {
    content.push(
      block("The file has changed since the last card: this one is made from it as it is now."),
    );
  }
  if (card.edit !== undefined) {
    content.push(block("Edited by the user: what is written is this text, not the proposal."));
  }
  for (const reason of event.reasons ?? []) content.push(block(plain(reason)));
  return content;
}

/** A client's response to a request with these options. */
export function chosen<Id extends string>(
  response: unknown,
  options: readonly { readonly optionId: Id }[],
): Outcome<Id> {
  const outcome = selected(response);
  if ("none" in outcome) return outcome;
  const { optionId, note } = outcome.answer;
  const option = options.find((one) => one.optionId === optionId);
  if (option === undefined) return noOption(optionId);
  return note === undefined ? { answer: option.optionId } : { answer: option.optionId, note };
}

/** A client's response to a card. `_meta.note` may carry a sentence to the model with a denial. */
export function cardOutcome(response: unknown): Outcome<Answer> {
  return chosen(response, CARD_OPTIONS);
}

/** A question with options as `session/request_permission`. */
export function questionRequest(
  sessionId: string,
  question: OpenQuestion,
): RequestPermissionRequest {
  return {
    sessionId,
    toolCall: {
      toolCallId: question.call,
      name: "ask",
      kind: "other",
      status: "pending",
      // Named as a question, so that no wording of the model's can pass for a card.
      title: oneLine(`Question: ${question.text}`, 400),
      content: [block(question.text)],
    },
    // The protocol has no kind for a plain choice; none of these lets anything through.
    options: (question.options ?? []).map((option, index) => ({
      optionId: `option-${index + 1}`,
      kind: "allow_once",
      name: oneLine(option, 400),
    })),
  };
}

/** A client's response to a question: the chosen option's text. */
export function questionOutcome(question: OpenQuestion, response: unknown): Outcome<string> {
  const outcome = selected(response);
  if ("none" in outcome) return outcome;
  const { optionId } = outcome.answer;
  const index = /^option-(\d{1,6})$/.exec(optionId)?.[1];
  const answer = index === undefined ? undefined : question.options?.[Number(index) - 1];
  return answer === undefined ? noOption(optionId) : { answer };
}
