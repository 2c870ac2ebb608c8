import { isUtf8 } from "node:buffer";
import { RUN_TIMEOUT_S } from "../limits.js";
import type { EventBody, OtherCard, SessionEvent } from "../session/events.js";
import type { LocatedPath, Workspace } from "../workspace/types.js";
import { unifiedDiff } from "./diff.js";
import { reasonsOf } from "./reasons.js";
import type { Gated } from "./requirement.js";

/** A `card_edited` event as the gate logs it. */
export type CardEdited = Extract<EventBody, { type: "card_edited" }>;

/** What a person made of a proposal. */
export interface CardEdit {
  readonly event: CardEdited;
  /** Every byte that an Approve now writes. */
  readonly after: Uint8Array;
}

/** A card that waits for its answer, with the bytes it was made from. */
export interface OpenCard {
  readonly card: string;
  readonly call: string;
  readonly event: Extract<SessionEvent, { type: "card_raised" }>;
  /** For a write: what was on disk (null: no file) and every byte proposed. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** What a person made of the proposal; then this is what an Approve writes. */
  readonly edit?: CardEdit;
  /** Where other open sessions have a card for the same file: those cards, as of now. */
  readonly others?: readonly OtherCard[];
}

/** What became of an answer: only `taken` changed anything. */
export type AnswerOutcome =
  | { readonly outcome: "taken" }
  /** It was about another text than the card has by now; the card is open as before. */
  | { readonly outcome: "stale"; readonly message: string }
  | { readonly outcome: "gone"; readonly message: string };

/** A `card_raised` event as the gate logs it. */
export type CardRaised = Extract<EventBody, { type: "card_raised" }>;

/** What a card is of: its call and turn, and the card before it. */
export interface CardIds {
  readonly card: string;
  readonly call: string;
  readonly turn: string;
  /** The card that this one takes the place of. */
  readonly replaces?: string;
}

/** The path as given, where it is neither the real one nor the one relative to the workspace. */
function givenPath(path: LocatedPath): { given?: string } {
  const known = path.kind === "inside" ? [path.real, path.relative] : [path.real];
  return known.includes(path.given) ? {} : { given: path.given };
}

function pathFields(path: LocatedPath) {
  const relative = path.kind === "inside" ? { relative: path.relative } : {};
  return { path: path.real, ...relative, ...givenPath(path) };
}

/**
 * Everything a card says, as its event. Paths and argv are as they are, for the log and for
 * matching: a host shows them through `visible`. The diff is ready to show. Takes under 100 ms
 * for a write of up to 256 KiB and never holds the event loop for more than some 45 ms.
 */
export async function makeCard(
  workspace: Pick<Workspace, "unsaved">,
  prepared: Gated,
  ids: CardIds,
): Promise<CardRaised> {
  const base = { type: "card_raised", ...ids, tool: prepared.tool, kind: prepared.kind } as const;
  if (prepared.kind === "run") {
    const reasons = reasonsOf(prepared);
    return {
      ...base,
      argv: [...prepared.argv],
      ...(prepared.program === undefined ? {} : { program: prepared.program }),
      ...(prepared.timeout === RUN_TIMEOUT_S ? {} : { timeout: prepared.timeout }),
      ...(reasons.length > 0 ? { reasons } : {}),
    };
  }
  if (prepared.kind === "read") {
    const reasons = reasonsOf(prepared);
    return { ...base, ...pathFields(prepared.path), ...(reasons.length > 0 ? { reasons } : {}) };
  }
  const { path, before, after } = prepared;
  const diff = await unifiedDiff(before.bytes, after);
  const bytes = Buffer.from(after.buffer, after.byteOffset, after.byteLength);
  const utf8 = isUtf8(bytes);
  const text = bytes.toString("utf8");
  const unsaved = workspace.unsaved().has(path.real);
  const reasons = reasonsOf(prepared, { text, utf8, unsaved });
  return {
    ...base,
    ...pathFields(path),
    digest: before.digest,
    diff: diff.text,
    ...(diff.cut ? { diffCut: true } : {}),
    added: diff.added,
    removed: diff.removed,
    bytesBefore: before.bytes?.length ?? null,
    bytesAfter: after.length,
    proposed: utf8 ? text : bytes.toString("base64"),
    proposedEncoding: utf8 ? "utf8" : "base64",
    ...(reasons.length > 0 ? { reasons } : {}),
  };
}
