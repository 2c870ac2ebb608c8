import * as vscode from "vscode";
import { MODEL_IDLE_MS } from "../../core/limits.js";
import { freshId } from "../../core/model/assemble.js";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type ChatRequest,
  type ModelCall,
  type SendOptions,
  type Usage,
} from "../../core/model/chatClient.js";
import {
  argsOf,
  callId,
  EMPTY_ANSWER,
  estimateTokens,
  type Step,
  stepsOf,
  textOf,
  toolName,
  usedIds,
} from "../../core/model/request.js";
import { languageModelFault } from "./languageModelFault.js";

/** Counting tokens goes through another process; over this an estimate of ours does. */
const COUNT_MS = 2_000;

/** A model of VS Code's own: whatever the user has signed in to. No key is involved. */
export class LanguageModelClient implements ChatClient {
  readonly provider = "vscode";
  readonly model: string;
  readonly contextTokens: number;

  constructor(
    private readonly chat: vscode.LanguageModelChat,
    private readonly idleMs: number = MODEL_IDLE_MS,
  ) {
    this.model = chat.id;
    this.contextTokens = chat.maxInputTokens;
  }

  async send(request: ChatRequest, { signal, onDelta }: SendOptions): Promise<ChatAnswer> {
    signal.throwIfAborted();
    const messages = messagesOf(request);
    const cancel = new vscode.CancellationTokenSource();
    const watch = new Watch(signal, this.idleMs, () => cancel.cancel());
    const text: string[] = [];
    const calls: ModelCall[] = [];
    const used = usedIds(request.messages);
    let delivered = false;
    try {
      const response = await watch.race(
        this.chat.sendRequest(
          messages,
          {
            justification: vscode.l10n.t("Countersign sends your message and what its tools read."),
            tools: request.tools.map(({ name, description, parameters }) => ({
              name,
              description,
              inputSchema: parameters,
            })),
            toolMode: vscode.LanguageModelChatToolMode.Auto,
          },
          cancel.token,
        ),
      );
      const parts = response.stream[Symbol.asyncIterator]();
      for (;;) {
        const { value, done } = await watch.race(parts.next());
        if (done === true) break;
        const part: unknown = value;
        if (part instanceof vscode.LanguageModelTextPart) {
          if (part.value === "") continue;
          delivered = true;
          text.push(part.value);
          onDelta({ type: "text", text: part.value });
        } else if (part instanceof vscode.LanguageModelToolCallPart) {
          delivered = true;
          const call = freshId(part.callId, used);
          used.add(call);
          calls.push({ call, tool: part.name, ...argumentsOf(part.input) });
        }
      }
      const answer = text.join("");
      return {
        text: answer,
        calls,
        stop: "end",
        usage: await this.count(request, answer, calls, cancel.token),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (watch.idle) {
        throw new ChatError(
          "connection",
          `The model “${this.chat.name}” has sent nothing for ${Math.round(this.idleMs / 1000)} seconds. Go on to ask again, or pick another model.`,
          !delivered,
        );
      }
      throw languageModelFault(error, this.chat.name, delivered);
    } finally {
      watch.dispose();
      cancel.dispose();
    }
  }

  /** VS Code says nothing of tokens used: they are counted, and marked as an estimate. */
  private async count(
    request: ChatRequest,
    text: string,
    calls: readonly ModelCall[],
    token: vscode.CancellationToken,
  ): Promise<Usage> {
    const sent = `${request.system}\n${JSON.stringify(request.tools)}\n${JSON.stringify(request.messages)}`;
    const said = calls.length === 0 ? text : `${text}\n${JSON.stringify(calls)}`;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, COUNT_MS, undefined);
    });
    try {
      const counted = await Promise.race([
        Promise.all([this.chat.countTokens(sent, token), this.chat.countTokens(said, token)]),
        late,
      ]);
      if (counted !== undefined) {
        return { input: counted[0], output: counted[1], estimated: true };
      }
    } catch {
      // Counting is a courtesy; an answer is not lost over it.
    } finally {
      clearTimeout(timer);
    }
    return { input: estimateTokens(sent), output: estimateTokens(said), estimated: true };
  }
}

/** Ends a wait when the signal does, or after a silence: a provider need not heed its token. */
class Watch {
  idle = false;
  private timer: NodeJS.Timeout | undefined;
  private stop: (reason: unknown) => void = () => {};
  private readonly stopped: Promise<never>;

  constructor(
    private readonly signal: AbortSignal,
    private readonly idleMs: number,
    private readonly cancel: () => void,
  ) {
    this.stopped = new Promise<never>((_, reject) => {
      this.stop = reject;
    });
    this.stopped.catch(() => {});
    signal.addEventListener("abort", this.onAbort, { once: true });
  }

  private readonly onAbort = (): void => {
    this.cancel();
    this.stop(this.signal.reason);
  };

  async race<T>(work: Thenable<T>): Promise<T> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.idle = true;
      this.cancel();
      this.stop(new Error("idle"));
    }, this.idleMs);
    return Promise.race([work, this.stopped]);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener("abort", this.onAbort);
  }
}

function argumentsOf(input: unknown): Pick<ModelCall, "args" | "invalid"> {
  if (input === undefined || input === null) return { args: {} };
  if (typeof input === "object" && !Array.isArray(input)) {
    return { args: { ...input } };
  }
  return { args: null, invalid: typeof input === "string" ? input : JSON.stringify(input) };
}

/** There is no system role: the first user message carries what would be in it. */
function messagesOf(request: ChatRequest): vscode.LanguageModelChatMessage[] {
  const { User } = vscode.LanguageModelChatMessage;
  const system = request.system.trim() === "" ? [] : [User(request.system)];
  return [...system, ...stepsOf(request.messages).flatMap(stepMessages)];
}

function stepMessages(step: Step): vscode.LanguageModelChatMessage[] {
  const { User, Assistant } = vscode.LanguageModelChatMessage;
  if (step.kind === "user") return [User(step.text)];
  const { message, results } = step;
  const text = textOf(message) ?? (message.calls.length === 0 ? EMPTY_ANSWER : undefined);
  const answer = Assistant([
    ...(text === undefined ? [] : [new vscode.LanguageModelTextPart(text)]),
    ...message.calls.map(
      (call) =>
        new vscode.LanguageModelToolCallPart(callId(call.call), toolName(call.tool), argsOf(call)),
    ),
  ]);
  if (results.length === 0) return [answer];
  return [
    answer,
    User(
      results.map(
        ({ call, text: result }) =>
          new vscode.LanguageModelToolResultPart(callId(call), [
            new vscode.LanguageModelTextPart(result),
          ]),
      ),
    ),
  ];
}
