import type { LocatedPath, Snapshot, ToolError } from "../workspace/types.js";

/** A read, list or grep. Without a card inside the workspace, with one outside. */
export interface PreparedRead {
  readonly kind: "read";
  readonly tool: string;
  readonly path: LocatedPath;
  /**
   * Set where a write outside the workspace cannot be made: the model may hear why only once
   * the read has been allowed, so the call asks for the read and then gives this as its result.
   */
  readonly fails?: ToolError;
}

/** A write whose every byte is known before anyone is asked. */
export interface PreparedWrite {
  readonly kind: "write";
  readonly tool: string;
  readonly path: LocatedPath;
  readonly before: Snapshot;
  readonly after: Uint8Array;
  /** For the model, where `after` is not what it proposed: what the user made of it. */
  readonly receipt?: string;
}

/** A command as it would be started, without a shell. */
export interface PreparedRun {
  readonly kind: "run";
  readonly tool: string;
  readonly argv: readonly string[];
  /** Whole seconds. */
  readonly timeout: number;
  /** Absolute, where PATH gives a file of the workspace for argv's bare name. */
  readonly program?: string;
}

/** `ask`, `finish`, `use_skill`: nothing that touches the machine. */
export interface PreparedFree {
  readonly kind: "free";
  readonly tool: string;
}

/** A call whose arguments are right and that could be made: what the gate decides on. */
export type Prepared = PreparedRead | PreparedWrite | PreparedRun | PreparedFree;
