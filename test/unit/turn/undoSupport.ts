import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ModelCall } from "../../../src/core/model/chatClient.js";
import type { EventOf, EventType } from "../../../src/core/session/events.js";
import type {
  LiveSession,
  UndoChoice,
  UndoOutcome,
  UndoPlan,
  UndoTarget,
} from "../../../src/core/turn/live.js";
import { call, calling, untilState, type World } from "./support.js";

export const write = (path: string, content: string, name?: string): ModelCall =>
  call("write_file", { path, content }, name);
export const run = (...argv: string[]): ModelCall => call("run", { argv });

/** One turn whose every card is approved; gives its id. */
export async function turnOf(
  world: World,
  session: LiveSession,
  text: string,
  ...calls: readonly ModelCall[]
): Promise<string> {
  world.client.steps.push(calling(...calls), { text: "Done." });
  const yes = session.onEvent((event) => {
    if (event.type !== "card_raised") return;
    void session.answerCard(event.card, "allow_once", { surface: "test" });
  });
  const outcome = await session.ask(text);
  assert.ok(outcome.outcome === "started");
  await untilState(session, "idle");
  yes.dispose();
  return outcome.turn;
}

export const turn = (id: string): UndoTarget => ({ kind: "turn", id });
export const undone = (id: string): UndoTarget => ({ kind: "undo", id });

export async function planOf(session: LiveSession, target: UndoTarget): Promise<UndoPlan> {
  const plan = await session.planUndo(target);
  if (typeof plan === "string") throw new Error(plan);
  return plan;
}

/** Plans and does it, with the same choice for every file. */
export async function undo(
  session: LiveSession,
  target: UndoTarget,
  choice?: UndoChoice,
): Promise<UndoOutcome> {
  const plan = await planOf(session, target);
  const choices = new Map(
    choice === undefined ? [] : plan.items.map(({ path }) => [path, choice] as const),
  );
  return session.undo(plan, choices, "test");
}

/** Each file of a plan as `name: state`. */
export function states({ items }: UndoPlan): string[] {
  return items.map(({ name, state, why }) => `${name}: ${state}${why ? ` (${why})` : ""}`);
}

export function ofType<T extends EventType>(session: LiveSession, type: T): EventOf<T>[] {
  return session.events.filter((event): event is EventOf<T> => event.type === type);
}

/** The text of a file of the workspace, or null where there is none. */
export function textOf(world: World, path: string): Promise<string | null> {
  return readFile(join(world.workspace, path), "utf8").catch(() => null);
}

export async function put(world: World, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(world.workspace, path)), { recursive: true });
  await writeFile(join(world.workspace, path), text);
}
