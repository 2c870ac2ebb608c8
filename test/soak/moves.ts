import { randomUUID } from "node:crypto";
import type { Core, LiveSession } from "../../src/core/turn/live.js";
import { FILES } from "./files.js";
import type { Person } from "./person.js";
import type { Move } from "./plan.js";

export interface Scene {
  readonly person: Person;
  readonly core: Core;
  /** The core of another window. */
  readonly second: () => Core;
  /** By which the scripted model knows session, round and move. */
  readonly label: string;
  readonly workspace: string;
  readonly broken: (invariant: string, what: string) => void;
}

interface Done {
  readonly what: string;
  /** The session was closed and this is it, open again. */
  readonly reopened?: LiveSession;
}

/** Makes one move of the person's. Rejects with errors of the disk, and bugs. */
export async function makeMove(move: Move["do"], scene: Scene): Promise<Done> {
  const { person, core, broken } = scene;
  const { session } = person;
  switch (move) {
    case "ask": {
      const waiting = session.state === "waiting";
      const { outcome } = await session.ask(`${scene.label}: see to the files.`);
      if (waiting && outcome !== "refused") {
        broken("no message while a card is open", `it was ${outcome}`);
      }
      return { what: `ask: ${outcome}` };
    }
    case "cancel": {
      await session.cancel();
      return { what: "cancel" };
    }
    case "goOn":
      return { what: `go on: ${(await session.goOn()).outcome}` };
    case "revoke": {
      const [use] = session.allows;
      if (use === undefined) return { what: "revoke: there is none" };
      return { what: `revoke: ${await session.revoke(use.allow)}` };
    }
    case "withdraw": {
      const ask = session.queue.at(-1)?.ask ?? randomUUID();
      return { what: `withdraw: ${await session.withdraw(ask)}` };
    }
    case "remake": {
      const { open } = person;
      if (open === undefined) return { what: "remake: there is none" };
      return { what: `remake: ${(await session.remakeCard(open.card)).outcome}` };
    }
    case "twice": {
      await person.twice();
      return { what: "answer twice" };
    }
    case "rename": {
      await core.renameSession(session.id, `Title of ${scene.label}`);
      return { what: "rename" };
    }
    case "look": {
      const other = scene.second();
      try {
        const seen = await other.openSession(session.id);
        // Closed and opened again in between by another move: then the second window came first.
        if (session.readOnly !== undefined) return { what: "look while it is opened again" };
        if (seen.readOnly === undefined)
          broken("one writer a session", "a second window may write");
        const { outcome } = await seen.ask("x");
        if (outcome !== "refused") broken("one writer a session", `its ask was ${outcome}`);
        return { what: "look from a second window" };
      } finally {
        await other.dispose();
      }
    }
    case "reopen": {
      await session.close();
      return { what: "reopen", reopened: await core.openSession(session.id) };
    }
    case "tell": {
      core.filesChanged(FILES.map((file) => `${scene.workspace}/${file}`));
      return { what: "tell of changed files" };
    }
    case "undo": {
      const target = session.undoable[0]?.target;
      if (target === undefined) return { what: "undo: there is nothing" };
      const plan = await session.planUndo(target);
      if (typeof plan === "string") return { what: "undo: not now" };
      // No merge: it would mix the marks of two texts, as it should.
      const choices = new Map(plan.items.map(({ path }) => [path, "restore"] as const));
      return { what: `undo: ${(await session.undo(plan, choices, "test")).outcome}` };
    }
    default:
      return { what: `there is no move ${move satisfies never}` };
  }
}
