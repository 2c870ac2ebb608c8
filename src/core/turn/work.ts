import type { Gate } from "../gate/gate.js";
import type { ChatAnswer, ChatClient, ToolSpec } from "../model/chatClient.js";
import type { Delta } from "../session/events.js";
import type { SessionRecord } from "../session/record.js";
import type { CallState } from "../session/state.js";
import type { TurnPort } from "../tools/tool.js";
import type { ToolResult, Workspace } from "../workspace/types.js";
import { runCall, type ToolSet } from "./call.js";
import type { CoreSettings } from "./live.js";
import type { PromptSource } from "./promptSource.js";
import type { QuestionDesk } from "./questions.js";
import { ModelDesk } from "./request.js";
import { runStopHooks } from "./stopHooks.js";
import { unlessAborted } from "./unlessAborted.js";

export interface WorkParts {
  readonly record: SessionRecord;
  /** Undefined where the folder is gone: the session can only be read. */
  readonly workspace: Workspace | undefined;
  readonly prompt: PromptSource | undefined;
  readonly toolSet: ToolSet;
  readonly toolSpecs: readonly ToolSpec[];
  readonly settings: () => CoreSettings;
  readonly client: () => Promise<ChatClient>;
  readonly gate: Gate;
  readonly questions: QuestionDesk;
  readonly emit: (delta: Delta) => void;
}

/**
 * What a turn does, one piece at a time: an answer of the model, a call, the Stop hooks. Each
 * rejects with the signal's reason, or `LogError`.
 */
export class TurnWork {
  readonly #models = new ModelDesk();
  constructor(private readonly parts: WorkParts) {}

  /** The model's next answer. Rejects with `ChatError` too. */
  async answer(signal: AbortSignal): Promise<ChatAnswer> {
    const { record, prompt, toolSpecs: tools, emit } = this.parts;
    const client = await unlessAborted(this.parts.client(), signal);
    const system = (await prompt?.system()) ?? "";
    return this.#models.request({ record, client, system, tools, signal, emit });
  }

  /** Carries a call out to its one result; gives back a fault of ours, if there was one. */
  async call(call: CallState, turn: string, signal: AbortSignal): Promise<{ bug?: unknown }> {
    const { workspace, toolSet, settings, gate, record, emit } = this.parts;
    if (workspace === undefined) throw new Error("there is no workspace");
    const replaces = call.lastCard === undefined ? {} : { replaces: call.lastCard };
    return runCall({
      call: {
        call: call.call,
        tool: call.tool,
        args: call.args,
        ...(call.invalid === undefined ? {} : { invalid: call.invalid }),
      },
      turn,
      context: {
        workspace,
        signal,
        turn: this.#port(call, turn, signal),
        onOutput: (stream, text) => emit({ type: "output", call: call.call, stream, text }),
      },
      gate,
      ledger: record,
      toolSet,
      trusted: () => settings().trusted,
      emit,
      ...replaces,
    });
  }

  /** Undefined where all pass, else what the model is to hear. None runs where nothing is trusted. */
  async stopHooks(result: string, turn: string, signal: AbortSignal): Promise<string | undefined> {
    const { settings, workspace, record } = this.parts;
    const { trusted, stopHooks } = settings();
    if (!trusted || workspace === undefined) return undefined;
    return runStopHooks(stopHooks, { record, workspace, turn, result, signal });
  }

  #port(call: CallState, turn: string, signal: AbortSignal): TurnPort {
    const { questions, record, prompt } = this.parts;
    return {
      ask: (question, options) => questions.ask(call.call, turn, question, options, signal),
      finish: async (result): Promise<ToolResult> => {
        const verdict = await this.stopHooks(result, turn, signal);
        if (verdict !== undefined) return { ok: false, text: verdict };
        await record.append({ type: "result", turn, text: result }, { flush: true });
        return { ok: true, text: "The turn is finished." };
      },
      useSkill: async (name) =>
        (await prompt?.useSkill(name)) ?? { ok: false, text: "There are no skills." },
    };
  }
}
