import { digest } from "../workspace/digest.js";
import { markOf } from "../workspace/leftovers.js";
import type { Effect } from "../workspace/permit.js";
import type { Prepared } from "./prepared.js";
import type { Gated } from "./requirement.js";

/** A copy that nobody else can change: neither its argv nor the bytes it proposes. */
export function copyOf(prepared: Prepared): Prepared {
  switch (prepared.kind) {
    case "run":
      return { ...prepared, argv: Object.freeze([...prepared.argv]) };
    case "write":
      return {
        ...prepared,
        path: { ...prepared.path },
        before: { ...prepared.before },
        after: Uint8Array.from(prepared.after),
      };
    case "read":
      return { ...prepared, path: { ...prepared.path } };
    case "free":
      return prepared;
  }
  return prepared satisfies never;
}

/** What a permit for this call allows, to the byte. */
export function effectOf(
  { call, turn }: { readonly call: string; readonly turn: string },
  prepared: Gated,
): Effect {
  switch (prepared.kind) {
    case "read":
      return { kind: "read", call, path: prepared.path };
    case "write": {
      const { path, before, after } = prepared;
      const [was, will, mark] = [before.digest, digest(after), markOf(turn, call)];
      return { kind: "write", call, path, before: was, after: will, mark };
    }
    case "run":
      return {
        kind: "run",
        call,
        argv: Object.freeze([...prepared.argv]),
        timeout: prepared.timeout,
      };
  }
  return prepared satisfies never;
}
