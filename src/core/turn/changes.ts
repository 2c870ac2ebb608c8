import type { EventOf, FileChange, SessionEvent } from "../session/events.js";
import { titleFrom } from "../session/title.js";
import type { Undoable, UndoTarget } from "./live.js";

/** A change of one file, as the log has it. */
export interface LoggedChange extends FileChange {
  /** False where it may or may not have happened: a host died in it. */
  readonly certain: boolean;
}

/** What a turn, a call or an undo changed, in order, and the commands that ran beside it. */
export interface ChangeSet {
  readonly target: UndoTarget;
  /** The ask of the turn, as a title. */
  readonly text: string;
  readonly at: string;
  readonly changes: readonly LoggedChange[];
  readonly commands: readonly (readonly string[])[];
}

interface TurnChanges {
  readonly turn: string;
  readonly text: string;
  readonly at: string;
  /** By call, in the order in which they began. */
  readonly writes: Map<string, LoggedChange>;
  readonly commands: (readonly string[])[];
}

interface UndoChanges {
  readonly started: EventOf<"undo_started">;
  /** By path. */
  readonly writes: Map<string, LoggedChange>;
  /** Whether it changed anything for certain. */
  effective: boolean;
}

function keyOf({ kind, id }: UndoTarget): string {
  return `${kind}:${id}`;
}

function argvOf(args: Record<string, unknown> | null): string[] | undefined {
  const argv = args?.argv;
  if (!Array.isArray(argv)) return undefined;
  return argv.filter((argument): argument is string => typeof argument === "string");
}

/** Everything that a session changed and could take back: a function of its events alone. */
export class Changes {
  readonly #turns = new Map<string, TurnChanges>();
  /** The turn in which a call wrote. */
  readonly #calls = new Map<string, TurnChanges>();
  readonly #undos = new Map<string, UndoChanges>();
  /** The undos of each thing, by its key. */
  readonly #undosOf = new Map<string, UndoChanges[]>();
  /** The commands of the last answer, by call. */
  readonly #argv = new Map<string, readonly string[]>();
  #turn: TurnChanges | undefined;
  #list: readonly Undoable[] | undefined;

  add(event: SessionEvent): void {
    switch (event.type) {
      case "turn_started": {
        const { turn = "", at } = event;
        const [writes, commands] = [new Map<string, LoggedChange>(), []];
        this.#turn = { turn, at, text: titleFrom(event.text), writes, commands };
        this.#turns.set(turn, this.#turn);
        return;
      }
      case "model_answered":
        this.#argv.clear();
        for (const { call, tool, args } of event.calls) {
          const argv = tool === "run" ? argvOf(args) : undefined;
          if (argv !== undefined) this.#argv.set(call, argv);
        }
        return;
      case "call_started":
        this.#startCall(event);
        return;
      case "call_ended":
        this.#endCall(event);
        return;
      case "undo_started":
        this.#startUndo(event);
        return;
      case "undo_file":
        this.#endFile(event);
        return;
      default:
        return;
    }
  }

  /** Turns that changed files, newest first. */
  get list(): readonly Undoable[] {
    this.#list ??= [...this.#turns.values()]
      .filter(({ writes }) => writes.size > 0)
      .reverse()
      .map(({ turn, text, at, writes, commands }): Undoable => {
        const target: UndoTarget = { kind: "turn", id: turn };
        const files = new Set([...writes.values()].map(({ path, relative }) => relative ?? path));
        const undone = this.undoneBy(target);
        const by = undone === undefined ? {} : { undone };
        return { target, text, at, files: [...files], commands: [...commands], ...by };
      });
    return this.#list;
  }

  /** The undo by which this is taken back now, or undefined. */
  undoneBy(target: UndoTarget): string | undefined {
    return this.#undosOf
      .get(keyOf(target))
      ?.findLast(
        ({ effective, started }) =>
          effective && this.undoneBy({ kind: "undo", id: started.undo }) === undefined,
      )?.started.undo;
  }

  /** What this changed; undefined where it changed nothing that is known. */
  of(target: UndoTarget): ChangeSet | undefined {
    const { kind, id } = target;
    if (kind === "undo") {
      const undo = this.#undos.get(id);
      if (undo === undefined || undo.writes.size === 0) return undefined;
      const { text } = this.#root(undo.started) ?? { text: "" };
      const changes = [...undo.writes.values()];
      return { target, text, at: undo.started.at, changes, commands: [] };
    }
    const turn = kind === "turn" ? this.#turns.get(id) : this.#calls.get(id);
    const own = kind === "turn" ? turn?.writes.values() : [turn?.writes.get(id)];
    const changes = [...(own ?? [])].filter((change) => change !== undefined);
    if (turn === undefined || changes.length === 0) return undefined;
    const commands = kind === "turn" ? [...turn.commands] : [];
    return { target, text: turn.text, at: turn.at, changes, commands };
  }

  /** The turn that an undo goes back to, by way of the undos it undid. */
  #root({ kind, of }: EventOf<"undo_started">): TurnChanges | undefined {
    if (kind === "turn") return this.#turns.get(of);
    if (kind === "call") return this.#calls.get(of);
    const undo = this.#undos.get(of);
    return undo === undefined ? undefined : this.#root(undo.started);
  }

  #startCall(event: EventOf<"call_started">): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const argv = this.#argv.get(event.call);
    if (argv !== undefined) turn.commands.push(argv);
    this.#list = undefined;
    // Begun anew after the file had changed: what it was about before did not happen.
    turn.writes.delete(event.call);
    if (event.write === undefined) return;
    turn.writes.set(event.call, { ...event.write, certain: false });
    this.#calls.set(event.call, turn);
  }

  #endCall(event: EventOf<"call_ended">): void {
    const turn = this.#calls.get(event.call);
    const write = turn?.writes.get(event.call);
    if (turn === undefined || write === undefined) return;
    this.#list = undefined;
    if (event.ok) turn.writes.set(event.call, { ...write, certain: true });
    // It says by what it was let through and that it failed: nothing was written.
    else if (event.by !== undefined) turn.writes.delete(event.call);
  }

  #startUndo(started: EventOf<"undo_started">): void {
    // An undo of something that was never there, or of itself, has nothing to go back to.
    if (this.#undos.has(started.undo)) return;
    const writes = new Map<string, LoggedChange>();
    for (const { choice: _, ...file } of started.files) {
      writes.set(file.path, { ...file, certain: false });
    }
    const undo: UndoChanges = { started, writes, effective: false };
    this.#undos.set(started.undo, undo);
    if (started.kind === "undo" && started.of === started.undo) return;
    const key = keyOf({ kind: started.kind, id: started.of });
    const known = this.#undosOf.get(key);
    if (known === undefined) this.#undosOf.set(key, [undo]);
    else known.push(undo);
  }

  #endFile(event: EventOf<"undo_file">): void {
    const undo = this.#undos.get(event.undo);
    const write = undo?.writes.get(event.path);
    if (undo === undefined || write === undefined) return;
    this.#list = undefined;
    if (event.outcome === "failed") {
      undo.writes.delete(event.path);
      return;
    }
    undo.writes.set(event.path, { ...write, certain: true });
    undo.effective = true;
  }
}
