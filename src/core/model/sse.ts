import { STREAM_EVENT_BYTES } from "../limits.js";

/** One event of a stream: its `event:` name, where it had one, and its data. */
export interface StreamEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** An event that does not end must not fill the memory. */
export class EventTooLong extends Error {}

/** Characters kept of lines that are no event stream at all (a page, a bare error). */
const STRAY_CHARS = 4_096;

/**
 * Reads server-sent events out of bytes cut anywhere: CR, LF and CRLF line ends, a byte order
 * mark, comments, data without a space, characters split between packets, and a last event
 * that no blank line follows.
 */
export class EventReader {
  /** The first lines that belong to no event; what a server sends that streams none. */
  stray = "";
  private readonly decoder = new TextDecoder("utf-8");
  /** Pieces of a line that has not ended; joined once, so that a long line costs its length. */
  private open: string[] = [];
  private openLength = 0;
  private skipLineFeed = false;
  private event: string | undefined;
  private data: string[] = [];
  private dataLength = 0;

  /**
   * The events that `bytes` completes, and whether it completed any line (a comment is one). Throws
   * `EventTooLong` over `STREAM_EVENT_BYTES`.
   */
  push(bytes: Uint8Array): { readonly events: StreamEvent[]; readonly lines: boolean } {
    return this.take(this.decoder.decode(bytes, { stream: true }));
  }

  /** What is left when the stream ends. */
  end(): StreamEvent[] {
    const last = this.take(this.decoder.decode());
    if (this.openLength > 0) this.line(this.closeLine(""));
    const event = this.flush();
    return event === undefined ? last.events : [...last.events, event];
  }

  private take(text: string): { events: StreamEvent[]; lines: boolean } {
    const events: StreamEvent[] = [];
    let lines = false;
    let from = 0;
    if (this.skipLineFeed && text.length > 0) {
      if (text[0] === "\n") from = 1;
      this.skipLineFeed = false;
    }
    for (;;) {
      const end = lineEnd(text, from);
      if (end === -1) break;
      const event = this.line(this.closeLine(text.slice(from, end)));
      if (event !== undefined) events.push(event);
      lines = true;
      from = end + 1;
      if (text[end] === "\r") {
        // The LF of a CRLF may come in the next packet.
        if (from === text.length) this.skipLineFeed = true;
        else if (text[from] === "\n") from += 1;
      }
    }
    if (from < text.length) {
      this.open.push(text.slice(from));
      this.openLength += text.length - from;
    }
    if (this.openLength + this.dataLength > STREAM_EVENT_BYTES) throw new EventTooLong();
    return { events, lines };
  }

  private closeLine(tail: string): string {
    const line = this.open.length === 0 ? tail : this.open.join("") + tail;
    this.open = [];
    this.openLength = 0;
    return line;
  }

  private line(line: string): StreamEvent | undefined {
    if (line === "") return this.flush();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.data.push(value);
      // With what its place in the list takes, so that empty lines count too.
      this.dataLength += value.length + 8;
    } else if (field === "event") this.event = value;
    else if (field !== "id" && field !== "retry" && this.stray.length < STRAY_CHARS) {
      this.stray += `${line.slice(0, STRAY_CHARS)}\n`;
    }
    return undefined;
  }

  private flush(): StreamEvent | undefined {
    const { event, data } = this;
    this.event = undefined;
    this.data = [];
    this.dataLength = 0;
    return data.length === 0 ? undefined : { event, data: data.join("\n") };
  }
}

function lineEnd(text: string, from: number): number {
  const lf = text.indexOf("\n", from);
  const cr = text.indexOf("\r", from);
  if (cr === -1) return lf;
  return lf === -1 ? cr : Math.min(lf, cr);
}
