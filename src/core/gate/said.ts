import type { Answer } from "../session/events.js";
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
