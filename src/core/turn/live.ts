import type { AllowUse } from "../gate/allows.js";
import type { AnswerOutcome, OpenCard } from "../gate/card.js";
import type { EditOutcome } from "../gate/edit.js";
import type { ChatClient } from "../model/chatClient.js";
import type {
  Allow,
  Answer,
  Delta,
  SessionEvent,
  SessionState,
  Surface,
} from "../session/events.js";
import type { LogVerdict } from "../session/verify.js";
import type { ToolError } from "../workspace/types.js";

export type { AllowUse, AnswerOutcome, EditOutcome, LogVerdict, OpenCard };

export interface OpenQuestion {
  readonly question: string;
  readonly call: string;
  readonly text: string;
  readonly options?: readonly string[];
}

export interface QueuedAsk {
  readonly ask: string;
  readonly text: string;
}

export type AskOutcome =
  | { readonly outcome: "started"; readonly turn: string }
  | { readonly outcome: "queued"; readonly ask: string }
  /** A card or question is open, the session is read-only, … ; the text is to be kept by the caller. */
  | { readonly outcome: "refused"; readonly message: string };

/**
 * One open session, as a host sees it. Everything on screen follows from `events` plus the deltas;
 * a listener gets each event after it is in the log.
 */
export interface LiveSession {
  readonly id: string;
  readonly events: readonly SessionEvent[];
  readonly state: SessionState;
  /** Why nothing can be asked here (another window has it, a newer log), or undefined. */
  readonly readOnly: string | undefined;
  /** Why the last event could not be saved ("disk full"), until one can be again; a `state` delta tells of a change. */
  readonly trouble: string | undefined;
  /** Lines of the log that could not be read: each lies after that many events. To be shown. */
  readonly damage: readonly { readonly after: number; readonly reason: string }[];
  readonly title: string;
  readonly openCards: readonly OpenCard[];
  readonly openQuestion: OpenQuestion | undefined;
  readonly queue: readonly QueuedAsk[];
  readonly allows: readonly AllowUse[];

  /** Starts a turn, or queues the ask behind a live one. */
  ask(text: string): Promise<AskOutcome>;
  /** Takes a queued ask back; false where it is not queued any more. */
  withdraw(ask: string): Promise<boolean>;
  /** Sends the first queued ask on after a cancel; goes on with an interrupted turn. */
  goOn(): Promise<AskOutcome>;
  /**
   * `shown` is the SHA-256 of the bytes that were shown as what a yes writes, for a card that is
   * edited; without it the proposal was shown. A yes to anything else is `stale`.
   */
  answerCard(
    card: string,
    answer: Answer,
    options: { note?: string; surface: Surface; shown?: string },
  ): Promise<AnswerOutcome>;
  /** Makes `bytes` what a yes to this open card writes, in the place of the proposal. */
  editCard(card: string, bytes: Uint8Array): Promise<EditOutcome>;
  /** Brings the proposal back. */
  revertCard(card: string): Promise<EditOutcome>;
  /** Makes an open card anew from the disk as it is now (after the user saved, say). */
  remakeCard(card: string): Promise<AnswerOutcome>;
  answerQuestion(question: string, text: string): Promise<AnswerOutcome>;
  revoke(allow: Allow): Promise<boolean>;
  /** Stops the turn at the next tool boundary; resolves when its end is in the log. */
  cancel(): Promise<void>;
  onEvent(listener: (event: SessionEvent) => void): { dispose(): void };
  onDelta(listener: (delta: Delta) => void): { dispose(): void };
  /** Lets go of the lock and leaves open cards open in the log. */
  close(): Promise<void>;
}

/** A Stop hook as the settings give it; `timeout` in seconds. */
export interface StopHook {
  readonly argv: readonly string[];
  readonly timeout?: number;
}

/** What the user may change while sessions run; read anew at each use. */
export interface CoreSettings {
  readonly stopHooks: readonly StopHook[];
  /** False in an untrusted workspace: no commands, no hooks, nothing of the workspace's own skills. */
  readonly trusted: boolean;
}

/** A session in a list, from its `meta.json` alone. Times are ISO 8601. */
export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly created: string;
  readonly updated: string;
  readonly model: string | undefined;
}

export interface CoreOptions {
  /** Sessions live in `<home>/sessions/<id>/`. */
  readonly home: string;
  /** The user's home directory, for their own skills. */
  readonly userHome: string;
  /** Written to logs and locks: the extension's version, and what host this is ("VS Code", "ACP"). */
  readonly version: string;
  readonly host: string;
  readonly ripgrep: () => Promise<string | ToolError>;
  /** The user's own environment; the core takes the editor's variables and the agent's keys out. */
  readonly env: NodeJS.ProcessEnv;
  readonly settings: () => CoreSettings;
  /** The model for a session's next request; rejects with `ChatError` where there is none. */
  readonly client: (session: string) => Promise<ChatClient>;
  /** Real paths that the editor holds with unsaved changes. */
  readonly unsaved: () => ReadonlySet<string>;
  /** Bugs and notes for the output channel; never a key, never content. */
  readonly report: (message: string) => void;
}

/** What both hosts build on. `createCore` in `core.ts` makes one. */
export interface Core {
  /** Newest first, from `meta.json` alone. */
  listSessions(): Promise<readonly SessionSummary[]>;
  /**
   * `root` is the workspace folder, absolute. `allows` are the user's own grants, on `meta.json`
   * before the session is there.
   */
  newSession(root: string, options?: { readonly allows?: readonly Allow[] }): Promise<LiveSession>;
  /** The same object while it is open. Rejects where there is no such session. */
  openSession(id: string): Promise<LiveSession>;
  renameSession(id: string, title: string): Promise<void>;
  /** The directory of a session, open or not. Rejects where there is none such. */
  sessionDirectory(id: string): Promise<string>;
  /** Compares a session's log, open or not, with its own hashes: see `session/verify.ts`. */
  verifyLog(id: string): Promise<LogVerdict>;
  /** Its directory, for a host that puts it to the trash; closes it first. */
  releaseSession(id: string): Promise<string>;
  /** Tells open sessions that the unsaved files or files on disk may have changed. */
  filesChanged(paths: readonly string[]): void;
  /** Closes every open session. */
  dispose(): Promise<void>;
}
