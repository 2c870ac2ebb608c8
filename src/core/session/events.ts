import * as z from "zod";

/** The version of this vocabulary; a log with a newer one opens read-only. */
export const SCHEMA = 1;

const answer = z.enum(["allow_once", "allow_session", "deny"]);
/** What a person says to a card. No default is yes. */
export type Answer = z.infer<typeof answer>;

/** One exact thing that goes through without a card for the rest of a session. */
export const allowSchema = z.union([
  z.strictObject({ write: z.string() }),
  z.strictObject({ read: z.string() }),
  z.strictObject({ run: z.array(z.string()) }),
]);
export type Allow = z.infer<typeof allowSchema>;

/** Where an answer was given. */
const surface = z.enum(["chat", "approvals", "lens", "title", "command", "status", "acp", "test"]);
export type Surface = z.infer<typeof surface>;

const call = z.object({
  call: z.string(),
  tool: z.string(),
  args: z.record(z.string(), z.unknown()).nullable(),
  /** The raw text, where the arguments were no JSON object. */
  invalid: z.string().optional(),
});

const usage = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number().optional(),
  estimated: z.boolean().optional(),
});

/**
 * One change of one file: SHA-256 of the bytes before and after (null: no file), which the session
 * keeps in `blobs/`.
 */
const fileChange = z.object({
  /** Real, absolute: where it lands. */
  path: z.string(),
  /** Relative to the workspace, for a path inside it. */
  relative: z.string().optional(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Permission bits (0o777) of the file before, where there was one. */
  mode: z.number().optional(),
});
export type FileChange = z.infer<typeof fileChange>;

/** Fields of each type, without the envelope `{seq, at, turn?}`. */
export const eventFields = {
  session_started: z.object({
    schema: z.number(),
    workspace: z.string(),
    version: z.string().optional(),
  }),
  ask_queued: z.object({ ask: z.string(), text: z.string() }),
  ask_withdrawn: z.object({ ask: z.string(), text: z.string() }),
  /** `ask` names the queued ask that this turn takes from the queue. */
  turn_started: z.object({
    text: z.string(),
    model: z.string(),
    ask: z.string().optional(),
    /** The turn that this one goes on with: one that failed, was cancelled or came to a limit. */
    goesOn: z.string().optional(),
  }),
  model_answered: z.object({
    text: z.string(),
    calls: z.array(call),
    usage: usage.optional(),
    stop: z.enum(["end", "length"]).optional(),
    reasoning: z.string().optional(),
    extra: z.object({ provider: z.string(), data: z.unknown() }).optional(),
  }),
  card_raised: z.object({
    card: z.string(),
    call: z.string(),
    tool: z.string(),
    kind: z.enum(["write", "read", "run"]),
    /** Real, absolute. */
    path: z.string().optional(),
    /** Relative to the workspace, for a path inside it. */
    relative: z.string().optional(),
    /** As the model gave it, where that differs from what it is. */
    given: z.string().optional(),
    argv: z.array(z.string()).optional(),
    /** Absolute, where PATH gives a file of the workspace for argv's bare name. */
    program: z.string().optional(),
    /** Whole seconds, where it is not the default. */
    timeout: z.number().optional(),
    /** SHA-256 of the bytes on disk, or null where there was no file. */
    digest: z.string().nullable().optional(),
    diff: z.string().optional(),
    /** True where `diff` holds only its first lines. */
    diffCut: z.boolean().optional(),
    added: z.number().optional(),
    removed: z.number().optional(),
    bytesBefore: z.number().nullable().optional(),
    bytesAfter: z.number().optional(),
    proposed: z.string().optional(),
    proposedEncoding: z.enum(["utf8", "base64"]).optional(),
    /** Why this deserves a second look, a sentence each. */
    reasons: z.array(z.string()).optional(),
    /** The card that this one takes the place of. */
    replaces: z.string().optional(),
  }),
  /** A person changed what an open card proposes: from here on this is what an Approve writes. */
  card_edited: z.object({
    card: z.string(),
    /** SHA-256 of the bytes that an Approve would now write. */
    digest: z.string(),
    /** Every one of them; absent where they are the proposal again. */
    edited: z.string().optional(),
    reverted: z.boolean().optional(),
    /** From the file on disk to the edited text. */
    diff: z.string(),
    diffCut: z.boolean().optional(),
    added: z.number(),
    removed: z.number(),
    bytesAfter: z.number(),
  }),
  card_answered: z.object({
    card: z.string(),
    answer,
    note: z.string().optional(),
    surface: surface.optional(),
    /** SHA-256 of the edited bytes that were approved, where the card was edited. */
    digest: z.string().optional(),
    /** It was approved with nothing left of it, which is a denial. */
    nothingLeft: z.boolean().optional(),
  }),
  card_spent: z.object({ card: z.string() }),
  card_withdrawn: z.object({ card: z.string() }),
  call_started: z.object({
    call: z.string(),
    by: z.enum(["user", "allow"]),
    card: z.string().optional(),
    allow: allowSchema.optional(),
    /** What a write is about to do; logs of earlier versions do not have it. */
    write: fileChange.optional(),
  }),
  call_ended: z.object({
    call: z.string(),
    ok: z.boolean(),
    result: z.string(),
    /** Why it was let through; absent where nothing was done. */
    by: z.enum(["inside", "user", "allow"]).optional(),
    /** Absolute real path of a file that was changed. */
    changed: z.string().optional(),
  }),
  question: z.object({
    question: z.string(),
    call: z.string(),
    text: z.string(),
    options: z.array(z.string()).optional(),
  }),
  question_answered: z.object({ question: z.string(), call: z.string(), text: z.string() }),
  hook_ended: z.object({
    argv: z.array(z.string()),
    /** The exit code; null where it was ended by a signal or did not start. */
    exit: z.number().nullable(),
    /** What went wrong beside an exit code: not started, timed out, ended by a signal. */
    fault: z.string().optional(),
    output: z.string().optional(),
  }),
  result: z.object({ text: z.string() }),
  turn_ended: z.object({
    reason: z.enum(["finished", "cancelled", "failed", "interrupted", "limit"]),
    message: z.string().optional(),
  }),
  /**
   * The user takes changes back: those of a turn, of one call, or of an earlier undo. Flushed
   * before the first file is touched. `before` of a file is what the undo found, `after` what it
   * leaves; `choice` is the user's, where the file was not what the turn left.
   */
  undo_started: z.object({
    undo: z.string(),
    kind: z.enum(["turn", "call", "undo"]),
    of: z.string(),
    files: z.array(fileChange.extend({ choice: z.enum(["restore", "merge"]).optional() })),
    surface: surface.optional(),
  }),
  /** What became of one file of an undo. `found`: after a crash, by looking at the disk. */
  undo_file: z.object({
    undo: z.string(),
    path: z.string(),
    outcome: z.enum(["restored", "removed", "failed"]),
    /** Whether a file that was removed is in the trash. */
    trash: z.boolean().optional(),
    message: z.string().optional(),
    found: z.boolean().optional(),
  }),
  undo_ended: z.object({ undo: z.string(), reason: z.enum(["finished", "interrupted"]) }),
  /** An allow that the user took back. */
  allow_revoked: z.object({ allow: allowSchema }),
} as const;

/** The types of the log's vocabulary. */
export type EventType = keyof typeof eventFields;

/** An event before it is written: `{type, turn?, …fields}`. */
export type EventBody = {
  [T in EventType]: { type: T; turn?: string } & z.infer<(typeof eventFields)[T]>;
}[EventType];

/** The envelope: a number that grows by one a line, and an ISO 8601 time in UTC. */
export type SessionEvent = EventBody & { readonly seq: number; readonly at: string };

/** An event of one type, as it is in the log. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** `waiting`: a card or a question is open. `interrupted`: the host stopped in mid-turn. */
export type SessionState = "idle" | "running" | "waiting" | "interrupted";

/** An open card of another session of this host, for the same file. */
export interface OtherCard {
  readonly session: string;
  readonly title: string;
  readonly card: string;
}

/** What happens between events, for whoever watches; never logged, and rebuilt from nothing. */
export type Delta =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "output"; call: string; stream: "stdout" | "stderr"; text: string }
  /** The next attempt at the model starts at `at` (ISO 8601), for `reason`. */
  | { type: "retry"; attempt: number; at: string; reason: string }
  /** An ungated call began. */
  | { type: "call_running"; call: string }
  /** The file under an open card changed on disk, or has unsaved changes in the editor. */
  | {
      type: "card_changed";
      card: string;
      unsaved: boolean;
      /** False where the disk is what the card was made from; absent counts as true. */
      changed?: boolean;
    }
  /** Which other sessions have an open card for the same file now; empty: none any more. */
  | { type: "card_others"; card: string; others: readonly OtherCard[] }
  /** Also sent when `LiveSession.trouble` changes. */
  | { type: "state"; state: SessionState };
