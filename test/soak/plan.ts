import { z } from "zod";
import { Random } from "./random.js";

/** What a person does on their own, beside answering cards and questions as they come. */
const MOVES = [
  ...(["ask", "ask", "ask", "ask", "cancel", "goOn", "goOn", "revoke", "withdraw"] as const),
  ...(["remake", "twice", "rename", "look", "reopen", "tell", "undo", "undo"] as const),
] as const;
/** What another program does to the files of the workspace. */
const EDITS = [
  ...(["change", "change", "change", "change", "delete", "rename", "mode", "new"] as const),
  ...(["linkOut", "linkIn", "linkFile", "restore", "restore", "hardLink", "pipe"] as const),
] as const;
const ENDS = ["kill", "kill", "killInWrite", "killInWrite", "killInLog", "close", "close"] as const;

const at = z.number().int().nonnegative();
const move = z.object({ at, session: at, do: z.enum(MOVES) });
const edit = z.object({ at, file: at, do: z.enum(EDITS) });
const round = z.object({
  /** How long it goes on at most, in milliseconds. */
  ms: at,
  /** How the host ends: killed at a time, killed while it writes a file or its log, or closed. */
  end: z.enum(ENDS),
  moves: z.array(move),
  edits: z.array(edit),
  /** The share of the model's answers that are faulty. */
  faults: z.number(),
  /** The disk is full from a time, for so long, in milliseconds. */
  full: z.object({ at, ms: at }).optional(),
  /** Files may not grow past what the longest log has now, and this much more, in bytes. */
  fileLimit: at.optional(),
});
export const planSchema = z.object({
  seed: z.number(),
  sessions: z.number(),
  rounds: z.array(round),
});

export type Move = z.infer<typeof move>;
export type Edit = z.infer<typeof edit>;
export type Round = z.infer<typeof round>;
/** All that chance decides before a run; what it does not decide is when things really happen. */
export type Plan = z.infer<typeof planSchema>;

export const SESSIONS = 4;
export const ROUNDS = 10;

function byTime<T extends { readonly at: number }>(list: T[]): T[] {
  return list.sort((a, b) => a.at - b.at);
}

function randomRound(random: Random, sessions: number, longest: number): Round {
  const ms = 150 + random.below(longest);
  const when = (): number => random.below(ms);
  const many = <T>(most: number, make: () => T): T[] =>
    Array.from({ length: random.below(most + 1) }, make);
  const first = Array.from({ length: sessions }, (_, session) => ({
    at: random.below(100),
    session,
    do: "ask" as const,
  }));
  const moves = many(10, () => ({
    at: when(),
    session: random.below(sessions),
    do: random.pick([...MOVES]),
  }));
  const edits = many(25, () => ({
    at: when(),
    file: random.below(100),
    do: random.pick([...EDITS]),
  }));
  return {
    ms,
    end: random.pick([...ENDS]),
    moves: byTime([...first, ...moves]),
    edits: byTime(edits),
    faults: random.pick([0, 0.15, 0.15, 0.4]),
    ...(random.chance(0.25) ? { full: { at: when(), ms: 50 + random.below(400) } } : {}),
    ...(random.chance(0.1) ? { fileLimit: random.below(20_000) } : {}),
  };
}

/** The plan of a seed. `longest` is how long a round goes on at most, in milliseconds. */
export function planOf(seed: number, rounds: number = ROUNDS, longest = 2_500): Plan {
  const random = new Random("plan", seed);
  return {
    seed,
    sessions: SESSIONS,
    rounds: Array.from({ length: rounds }, () => randomRound(random, SESSIONS, longest)),
  };
}
