import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Prepared } from "../../../src/core/gate/prepared.js";
import { allowOf, requirement, sameAllow } from "../../../src/core/gate/requirement.js";
import type { Allow } from "../../../src/core/session/events.js";
import type { LocatedPath } from "../../../src/core/workspace/types.js";
import { prepareRun } from "./support.js";

const inside = (relative: string): LocatedPath => ({
  kind: "inside",
  given: relative,
  real: `/ws/${relative}`,
  relative,
});
const outside = (real: string): LocatedPath => ({ kind: "outside", given: real, real });
const read = (path: LocatedPath): Prepared => ({ kind: "read", tool: "read_file", path });
const write = (path: LocatedPath): Prepared => ({
  kind: "write",
  tool: "write_file",
  path,
  before: { bytes: null, digest: null, mode: null, links: 0 },
  after: new Uint8Array(0),
});

describe("what a call needs", () => {
  it("is nothing for a read inside, and for what touches nothing", () => {
    deepStrictEqual(requirement(read(inside("a")), []), { kind: "none", by: "inside" });
    deepStrictEqual(requirement({ kind: "free", tool: "ask" }, []), { kind: "free" });
  });

  it("is a card for every write, every command and every read outside", () => {
    deepStrictEqual(requirement(write(inside("a")), []), { kind: "card", card: "write" });
    deepStrictEqual(requirement(write(outside("/etc/a")), []), { kind: "card", card: "write" });
    deepStrictEqual(requirement(read(outside("/etc/a")), []), { kind: "card", card: "read" });
    deepStrictEqual(requirement(prepareRun(["ls"]), []), { kind: "card", card: "run" });
  });

  it("is met by exactly the same path of the same kind, and by nothing near it", () => {
    const near: Allow[] = [
      { write: "/ws/a" },
      { write: "/ws/a/" },
      { write: "/ws/A" },
      { write: "/ws" },
      { write: "/ws/a.txt.bak" },
      { read: "/ws/a.txt" },
      { run: ["/ws/a.txt"] },
    ];
    deepStrictEqual(requirement(write(inside("a.txt")), near), { kind: "card", card: "write" });
    const exact: Allow = { write: "/ws/a.txt" };
    deepStrictEqual(requirement(write(inside("a.txt")), [...near, exact]), {
      kind: "allowed",
      allow: exact,
    });
    deepStrictEqual(requirement(read(outside("/ws/a.txt")), [exact]), {
      kind: "card",
      card: "read",
    });
  });

  it("is a card each time for what lies in /proc, whatever is allowed", () => {
    for (const real of ["/proc/1/environ", "/proc"]) {
      deepStrictEqual(requirement(read(outside(real)), [{ read: real }]), {
        kind: "card",
        card: "read",
      });
    }
    const whole = { kind: "inside", given: "proc/1/environ", relative: "proc/1/environ" } as const;
    deepStrictEqual(requirement(read({ ...whole, real: "/proc/1/environ" }), []), {
      kind: "card",
      card: "read",
    });
    const near = "/process/1";
    deepStrictEqual(requirement(read(outside(near)), [{ read: near }]), {
      kind: "allowed",
      allow: { read: near },
    });
  });

  it("is met by exactly the same argv, element by element and in order", () => {
    const allows: Allow[] = [{ run: ["git", "diff"] }];
    const asks = (argv: string[]) => requirement(prepareRun(argv), allows).kind;
    deepStrictEqual(
      [
        ["git", "diff"],
        ["git", "diff", "--ext-diff"],
        ["git"],
        ["git-x"],
        ["git", "diffy"],
        ["git", "diff", ""],
        ["git diff"],
        ["diff", "git"],
        ["git", "diff "],
        ["GIT", "diff"],
        [],
      ].map(asks),
      ["allowed", ...Array.from({ length: 10 }, () => "card")],
    );
  });

  it("does not depend on the time limit of a command that is allowed", () => {
    const allows: Allow[] = [{ run: ["make"] }];
    strictEqual(requirement(prepareRun(["make"], 600), allows).kind, "allowed");
  });

  it("is met only by an allow equal to the one that its own answer would have made", () => {
    const word = fc.constantFrom("a", "b", "", "a b", "/ws/a");
    const allow: fc.Arbitrary<Allow> = fc.oneof(
      word.map((path) => ({ write: path })),
      word.map((path) => ({ read: path })),
      fc.array(word, { maxLength: 3 }).map((argv) => ({ run: argv })),
    );
    const prepared: fc.Arbitrary<Prepared> = fc.oneof(
      word.map((path) => write(outside(path))),
      word.map((path) => read(outside(path))),
      fc.array(word, { maxLength: 3 }).map((argv) => prepareRun(argv)),
    );
    fc.assert(
      fc.property(prepared, fc.array(allow, { maxLength: 4 }), (call, allows) => {
        if (call.kind === "free") return;
        const own = JSON.stringify(allowOf(call));
        const need = requirement(call, allows);
        const there = allows.find((one) => JSON.stringify(one) === own);
        deepStrictEqual(
          need,
          there === undefined
            ? { kind: "card", card: call.kind }
            : { kind: "allowed", allow: there },
        );
        for (const one of allows) {
          strictEqual(sameAllow(one, allowOf(call)), JSON.stringify(one) === own);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
