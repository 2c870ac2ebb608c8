import { setImmediate } from "node:timers/promises";
import type { SessionToRead } from "./live.js";
import { Readable } from "./readable.js";
import { code } from "./readableText.js";

/** Processor time at a stretch, in milliseconds: then the host does other things. */
const STRETCH_MS = 8;

/** The readable text of one session, of any length, in pieces; it goes on as the session does. */
export class ReadableLog {
  readonly #readable: Readable;
  #events = 0;
  #damage = 0;

  /** `limit`: characters of one text (a result, a diff) that are shown at most. */
  constructor(
    private readonly session: SessionToRead,
    limit: number,
  ) {
    this.#readable = new Readable(limit);
  }

  get title(): string {
    return `# ${code(this.session.title)}\n\n`;
  }

  /** The text of what is new since the last time, an event or a damaged line a piece. */
  async *advance(): AsyncGenerator<string, void> {
    const { events } = this.session;
    let began = performance.now();
    while (this.#events < events.length) {
      yield* this.#damaged();
      const event = events[this.#events];
      this.#events++;
      if (event !== undefined) yield this.#readable.take(event);
      if (performance.now() - began > STRETCH_MS) {
        await setImmediate();
        began = performance.now();
      }
    }
    yield* this.#damaged();
  }

  *#damaged(): Generator<string, void> {
    const { damage } = this.session;
    for (let one = damage[this.#damage]; one !== undefined; one = damage[this.#damage]) {
      if (one.after > this.#events) return;
      this.#damage++;
      yield `\n**A line of the log is damaged here**: ${code(one.reason)}\n\n`;
    }
  }
}

/**
 * The newest `most` characters of a session's readable text, and how much is left out before them.
 * Updating costs what is new.
 */
export class ReadableView {
  readonly #log: ReadableLog;
  #parts: string[] = [];
  #first = 0;
  #length = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    session: SessionToRead,
    limit: number,
    private readonly most: number,
  ) {
    this.#log = new ReadableLog(session, limit);
  }

  /** The text as of now. */
  text(): Promise<string> {
    const text = this.#running.then(() => this.#text());
    this.#running = text.catch(() => {});
    return text;
  }

  async #text(): Promise<string> {
    for await (const part of this.#log.advance()) {
      this.#parts.push(part);
      this.#length += part.length;
      while (this.#length > this.most && this.#first < this.#parts.length - 1) {
        this.#length -= this.#parts[this.#first]?.length ?? 0;
        this.#parts[this.#first] = "";
        this.#first++;
      }
    }
    const left = this.#first;
    const note =
      left === 0 ? "" : `*The first ${left} events are not shown here; an export has them.*\n\n`;
    return `${this.#log.title}${note}${this.#parts.slice(this.#first).join("")}`;
  }
}

/** All of a session as Markdown, nothing cut, as UTF-8. */
export async function exportMarkdown(session: SessionToRead): Promise<Uint8Array> {
  const log = new ReadableLog(session, Number.POSITIVE_INFINITY);
  const parts = [Buffer.from(log.title)];
  for await (const part of log.advance()) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
