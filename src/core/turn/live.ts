import type { AllowUse } from "../gate/allows.js";
import type { AnswerOutcome, OpenCard } from "../gate/card.js";
import type { EditOutcome } from "../gate/edit.js";
import type { ChatClient } from "../model/chatClient.js";
import type { LogVerdict } from "../session/chainCheck.js";
import type {
  Allow,
  Answer,
  Delta,
  SessionEvent,
  SessionState,
  Surface,
} from "../session/events.js";
import type { ToolError } from "../workspace/types.js";

export type { AllowUse, AnswerOutcome, EditOutcome, LogVerdict, OpenCard };

/** A question that waits for the user's words, or for one of its options. */
export interface OpenQuestion {
  readonly question: string;
  readonly call: string;
  readonly text: string;
  readonly options?: readonly string[];
}

/** A message that waits for the turn before it. */
export interface QueuedAsk {
  readonly ask: string;
  readonly text: string;
}

/** What became of a message. */
export type AskOutcome =
  | { readonly outcome: "started"; readonly turn: string }
  | { readonly outcome: "queued"; readonly ask: string }
  /** A card or question is open, the session is read-only, … ; the text is to be kept by the caller. */
  | { readonly outcome: "refused"; readonly message: string };

/** What can be undone: all that a turn changed, one call of it, or an undo (which brings it back). */
export interface UndoTarget {
  readonly kind: "turn" | "call" | "undo";
  readonly id: string;
}

/** A turn that changed files, from the log alone. */
export interface Undoable {
  readonly target: UndoTarget;
  /** The turn's ask, in one line. */
  readonly text: string;
  readonly at: string;
  /** Relative to the workspace, absolute outside of it; in the order of their first change. */
  readonly files: readonly string[];
  /** What ran in that turn and stays done. */
  readonly commands: readonly (readonly string[])[];
  /** The undo by which it is taken back now. */
  readonly undone?: string;
}

/** One file of a plan. Bytes are null where there is, or was, no file. */
export interface UndoItem {
  /** Real, absolute. */
  readonly path: string;
  /** Relative to the workspace, absolute outside of it. */
  readonly name: string;
  /**
   * `restore`, `create`, `remove`: it is what was left of it, and goes back. `same`: it is as it was
   * before already. `conflict`: it is not what was left of it, and the user decides. `impossible`:
   * `why` says the reason.
   */
  readonly state: "restore" | "create" | "remove" | "same" | "conflict" | "impossible";
  /**
   * A conflict: it changed `since`, or someone else changed it `between` two changes of the turn.
   * Impossible: the path leads `elsewhere`, it is `unreadable` or `readOnly`, its bytes are `lost`.
   */
  readonly why?: "since" | "between" | "elsewhere" | "unreadable" | "readOnly" | "lost";
  /** What undoing brings back. */
  readonly before: Uint8Array | null;
  /** What was left of it; undefined where that is not known any more. */
  readonly left: Uint8Array | null | undefined;
  readonly now: Uint8Array | null;
  /** For a conflict: `now` without the changes that are undone, where they can be told apart. */
  readonly merged: Uint8Array | undefined;
  /** Permission bits it comes back with. */
  readonly mode?: number;
  /** The editor holds it with unsaved changes; those stay there. */
  readonly unsaved: boolean;
}

/** What an undo would do, from the log and the disk at one moment. */
export interface UndoPlan {
  readonly target: UndoTarget;
  readonly text: string;
  readonly at: string;
  readonly items: readonly UndoItem[];
  readonly commands: readonly (readonly string[])[];
}

/** Of a file: leave it, bring the old bytes back, or write `merged`. */
export type UndoChoice = "keep" | "restore" | "merge";

/** What became of one file in an undo. */
export interface UndoFile {
  readonly path: string;
  readonly outcome: "restored" | "removed" | "failed";
  /** Whether a removed file is in the trash. */
  readonly trash?: boolean;
  readonly message?: string;
}

/** What became of an undo that was confirmed. */
export type UndoOutcome =
  | { readonly outcome: "done"; readonly undo: string; readonly files: readonly UndoFile[] }
  /** A file is not what the plan showed: nothing was done; plan again. */
  | { readonly outcome: "changed" }
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
  /** True where that is because another process had it when it was opened. */
  readonly heldElsewhere: boolean;
  /** Why the last event could not be saved ("disk full"), until one can be again; a `state` delta tells of a change. */
  readonly trouble: string | undefined;
  /** Lines of the log that could not be read: each lies after that many events. To be shown. */
  readonly damage: readonly { readonly after: number; readonly reason: string }[];
  readonly title: string;
  readonly openCards: readonly OpenCard[];
  readonly openQuestion: OpenQuestion | undefined;
  readonly queue: readonly QueuedAsk[];
  /**
   * The ask that was sent after a cancel while the turn is still stopping: it begins as soon as that
   * is over, before what was queued until then. Undefined where there is none.
   */
  readonly nextAsk: string | undefined;
  readonly allows: readonly AllowUse[];

  /** Starts a turn, or queues the ask behind a live one; see `nextAsk` for one that is stopping. */
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
  /** Turns that changed files, newest first. */
  readonly undoable: readonly Undoable[];
  /** The undo by which a turn, a call or an undo is taken back now, or undefined. */
  undoneBy(target: UndoTarget): string | undefined;
  /** What an undo would do now; a sentence for the user where it can do nothing. Changes nothing. */
  planUndo(target: UndoTarget): Promise<UndoPlan | string>;
  /**
   * Does what the user confirmed of a plan that this session made: by path, where it is not what the
   * item's state says (a `conflict` is kept unless `choices` says otherwise). Not while a turn runs.
   */
  undo(
    plan: UndoPlan,
    choices: ReadonlyMap<string, UndoChoice>,
    surface: Surface,
  ): Promise<UndoOutcome>;
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

/** A session to read: `events` grows while it is open. */
export interface SessionToRead extends Pick<LiveSession, "events" | "damage" | "title"> {
  readonly id: string;
}

/** What a host gives the core, once. */
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
  /** Puts a file to the system's trash; rejects where that cannot be. Absent: there is none. */
  readonly trash?: (path: string) => Promise<void>;
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
  /** What a session's log holds, open or not. Changes nothing on disk and takes no lock. */
  readSession(id: string): Promise<SessionToRead>;
  /** Compares a session's log, open or not, with its own hashes: see `session/verify.ts`. */
  verifyLog(id: string): Promise<LogVerdict>;
  /** Its directory, for a host that puts it to the trash; closes it first. */
  releaseSession(id: string): Promise<string>;
  /** Tells open sessions that the unsaved files or files on disk may have changed. */
  filesChanged(paths: readonly string[]): void;
  /** Closes every open session. */
  dispose(): Promise<void>;
}
