/**
 * One call of the model, from its arguments to its one result:
 *
 *   find the tool → check the arguments → **prepare** (reads, changes nothing) → **decide** (the
 *   gate, with a card where it must) → **execute** (exactly what was decided) → `call_ended`.
 *
 * Where the file changed on the way the call is prepared again. Every way out but a log that
 * cannot be written, or a host that goes away, ends in exactly one `call_ended`.
 */
import { exclusively } from "../gate/exclusive.js";
import type { Gate } from "../gate/gate.js";
import { Abandoned, type Admission, type GateLedger } from "../gate/ports.js";
import type { Prepared } from "../gate/prepared.js";
import { ARGS_DEPTH } from "../limits.js";
import type { ModelCall } from "../model/chatClient.js";
import type { Delta, EventOf } from "../session/events.js";
import type { Tool, ToolContext } from "../tools/tool.js";
import { FileChanged, ToolError } from "../workspace/types.js";

/** What a call needs of `tools/index.ts`. */
export interface ToolSet {
  /** The tool, or an error that lists the names there are. */
  findTool(name: string): Tool | ToolError;
  /** The arguments by the tool's schema, or a `ToolError` that names the field. */
  parseArgs(tool: Tool, args: unknown): unknown;
}

/** One call of the model, and what it takes to prepare, decide and execute it. */
export interface CallRequest {
  readonly call: ModelCall;
  readonly turn: string;
  readonly context: ToolContext;
  readonly gate: Gate;
  readonly ledger: Pick<GateLedger, "append">;
  readonly toolSet: ToolSet;
  /** False in an untrusted workspace, where no command runs. */
  readonly trusted: () => boolean;
  readonly emit: (delta: Delta) => void;
  /** The card that was open for this call when the host died. */
  readonly replaces?: string;
}

/** The one result of a call, as it is in the log. */
export interface CallOutcome {
  readonly ended: EventOf<"call_ended">;
  /** A fault of ours: the turn is to end as failed, and this goes to the output channel. */
  readonly bug?: unknown;
}

/** Times one call is prepared again without a person's answer in between. */
const MOST_RETRIES = 5;

type Ending = Pick<EventOf<"call_ended">, "ok" | "result" | "by" | "changed">;
type Permitted = Extract<Admission, { kind: "permit" | "free" }>;

const CANCELLED: Ending = { ok: false, result: "cancelled" };

function failed(error: ToolError): Ending {
  return { ok: false, result: error.message };
}

/** The result of a denied call, with the user's reason where there is one. */
export function denied(answer: Pick<EventOf<"card_answered">, "note" | "nothingLeft">): {
  ok: false;
  result: string;
} {
  const said = answer.note === undefined ? "" : ` The user says: ${answer.note}`;
  const how = answer.nothingLeft === true ? ": every change of it was dropped" : "";
  const result = `Denied by the user${how}. Nothing was done, and this answer is final: do not try to do the same in another way.${said}`;
  return { ok: false, result };
}

function untrusted(): ToolError {
  return new ToolError(
    "Commands do not run in an untrusted workspace. Go on without, or ask the user to trust it.",
  );
}

/** Node wraps a signal's reason in an error of its own, so its name is looked at too. */
function isCancel(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

/** The tool and its checked arguments, or why there is no such call. */
function understood(request: CallRequest): { tool: Tool; args: unknown } | ToolError {
  const { call, toolSet } = request;
  const tool = toolSet.findTool(call.tool);
  if (tool instanceof ToolError) return tool;
  if (call.args === null) {
    return new ToolError(
      `The arguments are invalid JSON: they must be one JSON object, nested at most ${ARGS_DEPTH} levels deep. Nothing was done; make the call again.`,
    );
  }
  const args = toolSet.parseArgs(tool, call.args);
  return args instanceof ToolError ? args : { tool, args };
}

/** Does what was decided; a command's or a write's own outcome is its result. */
async function execute(
  request: CallRequest,
  tool: Tool,
  args: unknown,
  prepared: Prepared,
  admission: Permitted,
): Promise<Ending | FileChanged> {
  const { context, call, emit } = request;
  const why = admission.kind === "permit" ? { by: admission.by } : {};
  if (admission.kind === "free" || admission.by === "inside") {
    emit({ type: "call_running", call: call.call });
  }
  const permit = admission.kind === "permit" ? admission.permit : undefined;
  const task = () => tool.execute(args, prepared, permit, context);
  const done = await (prepared.kind === "write" ? exclusively(prepared.path.real, task) : task());
  if (done instanceof FileChanged) return done;
  if (done instanceof ToolError) return { ...failed(done), ...why };
  const changed = prepared.kind === "write" && done.ok ? { changed: prepared.path.real } : {};
  return { ok: done.ok, result: done.text, ...why, ...changed };
}

/** Prepare, decide, execute, as often as the file changes on the way. */
async function carryOut(request: CallRequest): Promise<Ending> {
  const { context, gate, turn, call } = request;
  const known = understood(request);
  if (known instanceof ToolError) return failed(known);
  let { replaces } = request;
  for (let retries = 0; retries <= MOST_RETRIES; ) {
    context.signal.throwIfAborted();
    const prepared = await known.tool.prepare(known.args, context);
    if (prepared instanceof ToolError) return failed(prepared);
    if (prepared.kind === "run" && !request.trusted()) return failed(untrusted());
    const admission = await gate.admit({
      call: call.call,
      tool: call.tool,
      prepared,
      workspace: context.workspace,
      turn,
      signal: context.signal,
      ...(replaces === undefined ? {} : { replaces }),
    });
    if (admission.kind === "denied") return denied(admission);
    if (admission.kind === "spent" || admission.kind === "remake") {
      replaces = admission.card;
      continue;
    }
    // The trust may have gone while the card was up.
    if (prepared.kind === "run" && !request.trusted()) return failed(untrusted());
    const edited = admission.kind === "permit" ? admission.edited : undefined;
    const ending = await execute(request, known.tool, known.args, edited ?? prepared, admission);
    if (!(ending instanceof FileChanged)) return ending;
    if (admission.kind === "permit" && admission.card !== undefined) {
      await gate.spend(admission.card, turn);
      replaces = admission.card;
    } else {
      replaces = undefined;
      retries += 1;
    }
  }
  return failed(
    new ToolError(
      "The file keeps changing while this is done. Nothing was written; look at it again first.",
    ),
  );
}

/**
 * Carries one call out and logs its one `call_ended`. Rejects where the log cannot be written,
 * and with `Abandoned` where the host goes away before the call has a result.
 */
export async function runCall(request: CallRequest): Promise<CallOutcome> {
  const { call, turn, ledger, gate, context } = request;
  let ending: Ending;
  let bug: { bug: unknown } | undefined;
  try {
    ending = await carryOut(request);
  } catch (error) {
    if (error instanceof Abandoned) throw error;
    if (isCancel(error, context.signal)) {
      // Without a result, a later host takes the call up again.
      if (context.signal.reason instanceof Abandoned) throw context.signal.reason;
      ending = CANCELLED;
    } else {
      bug = { bug: error };
      ending = { ok: false, result: "Internal error: the call could not be carried out." };
    }
  }
  // A card of an earlier host that no new one took the place of would stay open for ever.
  await gate.letGo(request.replaces, turn);
  const event = await ledger.append({ type: "call_ended", turn, call: call.call, ...ending });
  if (event.type !== "call_ended") throw new Error("the ledger gave back another event");
  return { ended: event, ...bug };
}
