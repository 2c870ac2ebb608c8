import { ok } from "node:assert/strict";
import { join } from "node:path";
import { Gate } from "../../../src/core/gate/gate.js";
import type { Admission, AdmitRequest } from "../../../src/core/gate/ports.js";
import type { Prepared, PreparedRead } from "../../../src/core/gate/prepared.js";
import type { Answer, Delta, EventOf, Surface } from "../../../src/core/session/events.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { ids, type makeWorkspace, TestLedger } from "./support.js";

export type Made = Awaited<ReturnType<typeof makeWorkspace>>;

/** A read of a file outside of the workspace. */
export async function prepareReadOutside(made: Made, name: string): Promise<PreparedRead> {
  const path = await resolvePath(made.workspace, join(made.outside, name));
  ok(path.kind === "outside");
  return { kind: "read", tool: "read_file", path };
}

/** One session's gate and its log. */
export class Session {
  readonly ledger = new TestLedger();
  readonly deltas: Delta[] = [];
  readonly gate: Gate;
  readonly cancel = new AbortController();
  #calls = 0;

  constructor(
    private readonly made: Made,
    events: ConstructorParameters<typeof Gate>[1]["events"] = [],
  ) {
    this.gate = new Gate(this.ledger, {
      newId: ids("k"),
      emit: (delta) => this.deltas.push(delta),
      events: events ?? [],
    });
  }

  admit(prepared: Prepared, more: Partial<AdmitRequest> = {}): Promise<Admission> {
    this.#calls += 1;
    return this.gate.admit({
      call: `c${this.#calls}`,
      tool: prepared.tool,
      prepared,
      workspace: this.made.workspace,
      turn: "t1",
      signal: this.cancel.signal,
      ...more,
    });
  }

  /** Asks, and waits until the card is up. */
  async ask(
    prepared: Prepared,
    more: Partial<AdmitRequest> = {},
  ): Promise<{ card: EventOf<"card_raised">; admission: Promise<Admission> }> {
    const raised = this.ledger.next("card_raised");
    const admission = this.admit(prepared, more);
    admission.catch(() => {});
    return { card: await raised, admission };
  }

  answer(card: string, answer: Answer, note?: string, surface: Surface = "test") {
    return this.gate.answer(card, answer, { ...(note === undefined ? {} : { note }), surface });
  }
}
