import type { Allow } from "../session/events.js";
import type { Prepared, PreparedRead, PreparedRun, PreparedWrite } from "./prepared.js";

/** A call that takes a permit. */
export type Gated = PreparedRead | PreparedWrite | PreparedRun;

/** What a prepared call needs before it may go through; `free` touches nothing and needs nothing. */
export type Requirement = { readonly kind: "free" } | NeedOfGated;

export type NeedOfGated =
  /** It reads inside the workspace: a permit, no card. */
  | { readonly kind: "none"; readonly by: "inside" }
  /** The user has allowed exactly this for the session. */
  | { readonly kind: "allowed"; readonly allow: Allow }
  | { readonly kind: "card"; readonly card: "write" | "read" | "run" };

/** The one line that `allow_session` would put on `meta.json` for this call. */
export function allowOf(prepared: Gated): Allow {
  switch (prepared.kind) {
    case "write":
      return { write: prepared.path.real };
    case "read":
      return { read: prepared.path.real };
    case "run":
      return { run: [...prepared.argv] };
  }
  return prepared satisfies never;
}

/** Whether a real path is in `/proc`, where names stand for whoever has the number now. */
export function isOfProcesses(real: string): boolean {
  return /^\/proc(?:\/|$)/.test(real);
}

/** Whether two allows are the same: equal in kind and in every element, and nothing less. */
export function sameAllow(a: Allow, b: Allow): boolean {
  if ("write" in a) return "write" in b && a.write === b.write;
  if ("read" in a) return "read" in b && a.read === b.read;
  return (
    "run" in b &&
    a.run.length === b.run.length &&
    a.run.every((argument, index) => argument === b.run[index])
  );
}

/** Decides, from the call and the session's allows alone, whether anyone has to be asked. */
export function requirement(prepared: Gated, allows: readonly Allow[]): NeedOfGated;
export function requirement(prepared: Prepared, allows: readonly Allow[]): Requirement;
export function requirement(prepared: Prepared, allows: readonly Allow[]): Requirement {
  if (prepared.kind === "free") return { kind: "free" };
  // The same path is another process's memory or secrets from one moment to the next, and of
  // nobody's folder, though the workspace may be the whole disk.
  if (prepared.kind !== "run" && isOfProcesses(prepared.path.real)) {
    return { kind: "card", card: prepared.kind };
  }
  if (prepared.kind === "read" && prepared.path.kind === "inside") {
    return { kind: "none", by: "inside" };
  }
  const exact = allowOf(prepared);
  const allow = allows.find((one) => sameAllow(one, exact));
  if (allow !== undefined) return { kind: "allowed", allow };
  return { kind: "card", card: prepared.kind };
}
