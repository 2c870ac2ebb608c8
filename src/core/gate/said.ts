import type { Answer, EventBody, Surface } from "../session/events.js";
import { nothingIsLeft } from "./edit.js";
import type { Decision, Pending } from "./pending.js";

/** What an answer comes to: a yes to a card of which nothing is left is a denial. */
export function saidOf(
  answer: Answer,
  { prepared, edit }: Pending,
  note: string | undefined,
): Extract<Decision, { kind: "answered" }> {
  const words = note === undefined || note === "" ? {} : { note };
  if (answer === "deny" || prepared.kind !== "write" || edit === undefined) {
    return { kind: "answered", answer, ...words };
  }
  if (nothingIsLeft(prepared, edit)) {
    return { kind: "answered", answer: "deny", ...words, nothingLeft: true };
  }
  return { kind: "answered", answer, ...words, edit };
}

/** What the log says of an answer, with the digest of the edited text where it is a yes to one. */
export function answered(
  { kind: _, edit, ...said }: Extract<Decision, { kind: "answered" }>,
  where: { readonly turn: string; readonly card: string; readonly surface: Surface },
): EventBody {
  const approved = edit === undefined ? {} : { digest: edit.event.digest };
  return { type: "card_answered", ...where, ...said, ...approved };
}
