import { strictEqual, throws } from "node:assert/strict";
import { issuePermit, Permit } from "../../src/core/workspace/permit.js";

describe("a permit", () => {
  const effect = { kind: "run", call: "c1", argv: ["true"], timeout: 5 } as const;

  it("is spent once", () => {
    const permit = issuePermit<"run">(effect);
    strictEqual(permit.spend().call, "c1");
    throws(() => permit.spend(), /is spent/);
  });

  it("stays what it was made for, whatever becomes of what it was made from", () => {
    const made: { kind: "run"; call: string; argv: string[]; timeout: number } = {
      ...effect,
      argv: ["true"],
    };
    const permit = issuePermit<"run">(made);
    made.timeout = 600;
    strictEqual(permit.allows.timeout, 5);
    throws(() => Object.assign(permit.allows, { timeout: 600 }), TypeError);
  });

  it("cannot be made around the gate", () => {
    throws(() => new Permit<"run">(Symbol("issuer") as never, effect), /made by the gate/);
  });
});
