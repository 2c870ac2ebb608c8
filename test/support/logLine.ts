import type { SessionEvent } from "../../src/core/session/events.js";

/** The event of a log's line, as it is in memory: without the hash of the line before. */
export function eventOfLine(line: string): SessionEvent {
  const { prev: _prev, ...event } = JSON.parse(line) as SessionEvent & { prev?: string };
  return event as SessionEvent;
}
