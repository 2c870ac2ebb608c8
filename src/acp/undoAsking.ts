import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import {
  type PermissionOption,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import { unifiedDiff } from "../core/gate/diff.js";
import type { LiveSession, UndoChoice, UndoItem, UndoPlan } from "../core/turn/live.js";
import type { Mode } from "./options.js";
import { chosen } from "./permission.js";
import { block, commandLine, fenced, hidesSomething, oneLine } from "./show.js";
import type { AskedUndo } from "./undoUpdates.js";

/** What taking back needs of its session. */
export interface UndoHost {
  readonly live: LiveSession;
  readonly mode: () => Mode;
  readonly tell: (update: SessionUpdate) => void;
  /** The next undo in the log is the one that was asked about so. */
  readonly expect: (asked: AskedUndo | undefined) => void;
  /** The client's response as it came; rejects where there is none. */
  readonly ask: (request: RequestPermissionRequest, signal: AbortSignal) => Promise<unknown>;
  readonly report: (message: string) => void;
}

/** Taking changes back, or bringing back what was taken back. */
export type Which = "undo" | "redo";

type Option<Id extends string> = PermissionOption & { readonly optionId: Id };
type Choices = ReadonlyMap<string, UndoChoice>;

/** The client is asked about a plan: once about what goes back, once about each conflict. */
export class UndoAsking {
  readonly #call = `undo-${randomUUID()}`;
  readonly #diffs = new Map<string, ToolCallContent>();
  /** Calls that were told of and have no end yet. */
  readonly #open = new Set<string>();

  constructor(
    private readonly host: UndoHost,
    private readonly which: Which,
    private readonly plan: UndoPlan,
    /** Whether a file changed while the last list was up. */
    private readonly again: boolean,
  ) {}

  get asked(): AskedUndo {
    return { call: this.#call, diffs: this.#diffs };
  }

  /** What the client wants of each file; "kept" where it wants nothing, "cancelled" without an answer. */
  async confirm(signal: AbortSignal): Promise<Choices | "kept" | "cancelled"> {
    const { items } = this.plan;
    const able = items.filter(goesBack);
    const conflicts = items.filter(({ state }) => state === "conflict");
    const choices = new Map<string, UndoChoice>();
    const content = await this.#list(able);
    if (able.length > 0) {
      const options = listOptions(this.which, able.length, conflicts.length);
      const choice = await this.#ask(this.#call, this.#title(), items, content, options, signal);
      if (choice !== "undo") return choice === "keep" ? "kept" : "cancelled";
    } else {
      this.#tell(this.#call, this.#title(), items, { content });
    }
    for (const [n, item] of conflicts.entries()) {
      const choice = await this.#askConflict(`${this.#call}-${n + 1}`, item, signal);
      if (choice === undefined) return "cancelled";
      choices.set(item.path, choice);
    }
    const nothing = able.length === 0 && [...choices.values()].every((one) => one === "keep");
    return nothing ? "kept" : choices;
  }

  /** Nothing was done: whatever the client still shows as open is over. */
  leave(): void {
    for (const call of this.#open) this.#end(call, "failed", "Nothing was changed.");
  }

  #title(): string {
    return oneLine(`${this.which === "undo" ? "Undo" : "Redo"}: ${this.plan.text}`, 400);
  }

  async #list(able: readonly UndoItem[]): Promise<ToolCallContent[]> {
    const content: ToolCallContent[] = [];
    if (this.again) {
      content.push(
        block("A file changed while you looked. Nothing was done; this is the new list."),
      );
    }
    content.push(block(fenced(listOf(this.plan))));
    for (const item of able) {
      content.push(...(await this.#diff(item, item.before)));
    }
    return content;
  }

  async #askConflict(
    call: string,
    item: UndoItem,
    signal: AbortSignal,
  ): Promise<UndoChoice | undefined> {
    const { before, merged } = item;
    const why =
      item.why === "between"
        ? "Someone else changed it in the middle of the turn."
        : "It was changed since.";
    const options: Option<UndoChoice>[] = [
      { optionId: "keep", kind: "reject_once", name: "Keep what is there now" },
    ];
    const content = [block(why)];
    const offer = async (optionId: UndoChoice, name: string, after: Uint8Array | null) => {
      options.push({ optionId, kind: "allow_once", name });
      content.push(block(`${name}:`), ...(await diffOf(item, after)));
    };
    // First of the two that change something: whoever says yes to everything loses less by it.
    if (merged !== undefined) await offer("merge", "Undo, and keep what was changed since", merged);
    await offer("restore", before === null ? "Remove the file" : "Restore the old text", before);
    const title = oneLine(`${item.name} is not what was left of it`, 400);
    const choice = await this.#ask(call, title, [item], content, options, signal);
    if (choice === undefined) return undefined;
    this.#end(call, "completed", options.find(({ optionId }) => optionId === choice)?.name ?? "");
    if (choice !== "keep") await this.#diff(item, choice === "merge" ? (merged ?? null) : before);
    return choice;
  }

  /** The change of a file, remembered for what is told when it is done. */
  async #diff(item: UndoItem, after: Uint8Array | null): Promise<ToolCallContent[]> {
    const content = await diffOf(item, after);
    const [diff] = content;
    if (diff !== undefined) this.#diffs.set(item.path, diff);
    return content;
  }

  /** The option that the client chose, or undefined where it gave no answer. */
  async #ask<Id extends string>(
    toolCallId: string,
    title: string,
    items: readonly UndoItem[],
    content: ToolCallContent[],
    options: Option<Id>[],
    signal: AbortSignal,
  ): Promise<Id | undefined> {
    const { host } = this;
    this.#tell(toolCallId, title, items, {});
    const toolCall = { toolCallId, title, kind: "edit", status: "pending", content } as const;
    const request = { sessionId: host.live.id, toolCall, options };
    try {
      const outcome = chosen(await host.ask(request, signal), options);
      if ("answer" in outcome) return signal.aborted ? undefined : outcome.answer;
      host.report(`session ${host.live.id}: ${outcome.none}; nothing is undone`);
    } catch (error) {
      if (signal.aborted) return undefined;
      const said = error instanceof RequestError ? error.message : String(error);
      host.report(`session ${host.live.id}: the client could not ask: ${said}; nothing is undone`);
    }
    return undefined;
  }

  #tell(
    toolCallId: string,
    title: string,
    items: readonly UndoItem[],
    more: { readonly content?: ToolCallContent[] },
  ): void {
    this.#open.add(toolCallId);
    const locations = items.map(({ path }) => ({ path }));
    const call = {
      toolCallId,
      title,
      kind: "edit",
      status: "pending",
      locations,
      ...more,
    } as const;
    this.host.tell({ sessionUpdate: "tool_call", ...call });
  }

  #end(toolCallId: string, status: "completed" | "failed", text: string): void {
    this.#open.delete(toolCallId);
    const content = [block(text)];
    this.host.tell({ sessionUpdate: "tool_call_update", toolCallId, status, content });
  }
}

/** Whether a plan's file goes back without a further question. */
export function goesBack({ state }: UndoItem): boolean {
  return state === "restore" || state === "create" || state === "remove";
}

/** A plan as lines, one for each file and each command that ran. */
export function listOf(plan: UndoPlan): string {
  const files = plan.items.map((item) => `${oneLine(item.name, 4096)}: ${stateText(item)}`);
  const ran = plan.commands.map((argv) => `ran, and stays done: ${commandLine(argv)}`);
  return [...files, ...ran].join("\n");
}

function listOptions(which: Which, files: number, conflicts: number): Option<"undo" | "keep">[] {
  const what = `${which === "undo" ? "Undo" : "Bring back"} ${files} file${files === 1 ? "" : "s"}`;
  const more = conflicts === 0 ? "" : `, and ask about ${conflicts} more`;
  return [
    { optionId: "undo", kind: "allow_once", name: `${what}${more}` },
    { optionId: "keep", kind: "reject_once", name: "Leave everything as it is" },
  ];
}

/** A client's diff of a file, and beside it what that would not show. */
async function diffOf(
  { path, now }: UndoItem,
  after: Uint8Array | null,
): Promise<ToolCallContent[]> {
  const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const [oldText, newText] = [now === null ? null : text(now), after === null ? "" : text(after)];
  const content: ToolCallContent[] = [{ type: "diff", path, oldText, newText }];
  const hidden = hidesSomething(oldText ?? "") || hidesSomething(newText);
  if (hidden || !isUtf8(now ?? new Uint8Array()) || !isUtf8(after ?? new Uint8Array())) {
    const { text: shown } = await unifiedDiff(now, after ?? new Uint8Array());
    content.push(block(fenced(shown, "diff")));
  }
  return content;
}

function stateText({ state, why }: UndoItem): string {
  switch (state) {
    case "restore":
      return "restored";
    case "create":
      return "brought back";
    case "remove":
      return "removed";
    case "same":
      return "is as it was before already";
    case "conflict":
      return why === "between"
        ? "changed by someone else in the turn: you are asked about it"
        : "changed since: you are asked about it";
    case "impossible":
      switch (why) {
        case "elsewhere":
          return "not possible: its path leads elsewhere now";
        case "readOnly":
          return "not possible: it is read-only";
        case "lost":
          return "not possible: the bytes of before are not kept any more";
        default:
          return "not possible: it cannot be read";
      }
  }
  return state satisfies never;
}
