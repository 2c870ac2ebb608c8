import type { Allow, Delta, EventBody, SessionEvent, Surface } from "../session/events.js";
import type { Permit } from "../workspace/permit.js";
import type { LocatedPath, Snapshot, Workspace } from "../workspace/types.js";
import type { Prepared, PreparedWrite } from "./prepared.js";

/** How a line gets into the log. */
export interface AppendOptions {
  /** The line is on the disk, flushed, before the promise resolves. */
  readonly flush?: boolean;
  /** Called when the line is in the log, before any listener hears of it. */
  readonly appended?: (event: SessionEvent) => void;
}

/** What the gate needs of a session: its log and the allows on its `meta.json`. */
export interface GateLedger {
  /** Rejects where the line could not be written; then nothing that it was to permit happens. */
  append(event: EventBody, options?: AppendOptions): Promise<SessionEvent>;
  /**
   * Keeps bytes that an effect replaces or leaves; flushed to disk when it resolves with their
   * digest. Rejects where they cannot be kept; then the effect does not happen.
   */
  keep(bytes: Uint8Array): Promise<string>;
  allows(): readonly Allow[];
  /** Resolves when the line is flushed on `meta.json`. */
  addAllow(allow: Allow): Promise<void>;
  /** The same for taking one away. */
  removeAllow(allow: Allow): Promise<void>;
}

/** What the gate needs of its session besides the log. */
export interface GateOptions {
  /** A new id for a card, never given before. */
  readonly newId: () => string;
  /** Hears that the file under an open card changed. */
  readonly emit?: (delta: Delta) => void;
  /** The log so far, for how often each allow was used. */
  readonly events?: Iterable<SessionEvent>;
}

/** One prepared call that wants to begin. */
export interface AdmitRequest {
  readonly call: string;
  readonly tool: string;
  readonly prepared: Prepared;
  readonly workspace: Workspace;
  readonly turn: string;
  /** The card that a new one takes the place of: spent, made anew, or open when the host died. */
  readonly replaces?: string;
  readonly signal: AbortSignal;
}

/** A change of one file, to the byte; `after: null` takes the file away. */
export interface KnownChange {
  readonly path: LocatedPath;
  readonly before: Snapshot;
  readonly after: Uint8Array | null;
}

/** One file of an undo: over exactly these bytes, exactly those; `after: null` removes it. */
export interface UndoChange extends KnownChange {
  /** Permission bits for a file that comes back. */
  readonly mode?: number;
  /** What the user chose where the file was not what the turn left. */
  readonly choice?: "restore" | "merge";
}

/** An undo that the user has confirmed: `of` names the turn, the call or the undo that it takes back. */
export interface UndoRequest {
  readonly undo: string;
  readonly kind: "turn" | "call" | "undo";
  readonly of: string;
  readonly files: readonly UndoChange[];
  readonly surface: Surface;
}

/** The right to one change of an undo, and the bytes it is for. */
export type UndoPermit =
  | {
      readonly kind: "write";
      readonly permit: Permit<"write">;
      readonly path: LocatedPath;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "remove"; readonly permit: Permit<"remove">; readonly path: LocatedPath };

/** What the gate says of one call. Only `permit` lets something happen. */
export type Admission =
  /** The call touches nothing that needs a permit. */
  | { readonly kind: "free" }
  | {
      readonly kind: "permit";
      readonly permit: Permit;
      readonly by: "inside" | "user" | "allow";
      readonly card?: string;
      readonly allow?: Allow;
      /** The write that the permit is for, where the user edited the one that was prepared. */
      readonly edited?: PreparedWrite;
    }
  | {
      readonly kind: "denied";
      readonly card: string;
      readonly note?: string;
      /** It was approved, and nothing was left of it. */
      readonly nothingLeft?: true;
    }
  /** It was allowed, but for a file that is no longer there: prepare again, with `replaces: card`. */
  | { readonly kind: "spent"; readonly card: string }
  /** Someone wants the card made anew: prepare again, with `replaces: card`. */
  | { readonly kind: "remake"; readonly card: string };

/**
 * The reason to abort with where the host goes away rather than the user cancels: cards stay
 * open in the log, calls stay without a result, and a later host takes them up again.
 */
export class Abandoned extends Error {
  constructor() {
    super("the session was closed");
    this.name = "Abandoned";
  }
}
