import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventBody } from "../../../src/core/session/events.js";
import { type Opener, SessionRecord } from "../../../src/core/session/record.js";

export const opener: Opener = {
  host: "test",
  version: "0.0.0-test",
  report: () => {},
  ask: async () => "",
};

export interface Place {
  readonly base: string;
  /** Where a session can be made. */
  readonly directory: string;
  readonly log: string;
  dispose(): Promise<void>;
}

export async function makePlace(): Promise<Place> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "countersign-session-")));
  const directory = join(base, "sessions", "000000000-000000000000");
  return {
    base,
    directory,
    log: join(directory, "log.jsonl"),
    dispose: () => rm(base, { recursive: true, force: true }),
  };
}

/** A closed session with these events after its first one. */
export async function makeSession(place: Place, bodies: readonly EventBody[] = []): Promise<void> {
  const record = await SessionRecord.create(place.directory, "/ws", opener);
  for (const body of bodies) await record.append(body);
  await record.close();
}

export function asks(...texts: string[]): EventBody[] {
  return texts.map((text) => ({ type: "ask_queued", ask: text, text }));
}
