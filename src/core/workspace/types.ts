/**
 * An error meant for the model: a value, never thrown. `message` says what was wrong and what to
 * do next; it becomes the text of a result with `ok: false` and does not end the turn.
 */
export class ToolError {
  constructor(readonly message: string) {}
}

/**
 * The file is not the one the card showed: found between the answer and the rename. Nothing was
 * written; the answer is spent and the call is prepared again.
 */
export class FileChanged {
  constructor(readonly path: string) {}
}

/** A path of a call that lands inside the workspace. */
export interface InsidePath {
  readonly kind: "inside";
  /** As the model gave it. */
  readonly given: string;
  /** Absolute, after every symlink; the parts that do not exist yet are appended as given. */
  readonly real: string;
  /** `real` relative to the workspace's real root, with `/`; "." for the root itself. */
  readonly relative: string;
}

/** An absolute path elsewhere: a deliberate reach, which always needs a card. */
export interface OutsidePath {
  readonly kind: "outside";
  readonly given: string;
  readonly real: string;
}

/** A path that is never touched, with or without a card. */
export interface RefusedPath {
  readonly kind: "refused";
  readonly given: string;
  /** For the model: which link, `..` or name is the reason, and what to do instead. */
  readonly reason: string;
}

/** A path after every link. What touches a file takes one of these, never a string. */
export type ResolvedPath = InsidePath | OutsidePath | RefusedPath;
/** A path that may be touched once the gate has let its call through. */
export type LocatedPath = InsidePath | OutsidePath;

/** One root directory and what its tools need to know; made once a session. */
export interface Workspace {
  /** The root as the user sees it (may be a symlink), absolute. */
  readonly root: string;
  /** The root after every symlink, absolute. */
  readonly realRoot: string;
  /** ripgrep's absolute path, or why there is none (says what to do). */
  readonly ripgrep: () => Promise<string | ToolError>;
  /** Environment for commands: the user's shell less the editor's own variables and the agent's keys. */
  readonly env: NodeJS.ProcessEnv;
  /** Paths (real) that the editor holds with unsaved changes right now. */
  readonly unsaved: () => ReadonlySet<string>;
}

/** The bytes of a file at one moment. `bytes: null` means that there was no file. */
export interface Snapshot {
  readonly bytes: Uint8Array | null;
  /** SHA-256 of `bytes` in lower-case hex, or null where there was no file. */
  readonly digest: string | null;
  /** Permission bits (0o7777) of the file, or null where there was none. */
  readonly mode: number | null;
  /** Number of hard links, 0 where there was no file. */
  readonly links: number;
}

/** Text for the model, and whether the call did what it was asked to. */
export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
}
