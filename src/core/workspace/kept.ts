import { StringDecoder } from "node:string_decoder";

/** How many bytes at the end of `bytes` begin a UTF-8 character that is not whole there (0 to 3). */
export function cutTail(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}

/** How many bytes at the start of `bytes` belong to a character that began before it (0 to 3). */
function cutHead(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && count < bytes.length && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}

/**
 * The first and the last half of a stream of any length, in `limit` bytes of memory (and a chunk).
 * A stream of up to `limit` bytes is kept whole.
 */
export class Kept {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  #total = 0;
  /** Bytes that went to the tail's ring since the start. */
  #past = 0;

  constructor(limit: number) {
    this.#head = Buffer.alloc(Math.ceil(limit / 2));
    this.#tail = Buffer.alloc(Math.floor(limit / 2));
  }

  /** Bytes of the stream so far. */
  get total(): number {
    return this.#total;
  }

  add(chunk: Uint8Array): void {
    const room = Math.max(0, this.#head.length - this.#total);
    this.#head.set(chunk.subarray(0, room), Math.min(this.#total, this.#head.length));
    this.#total += chunk.length;
    this.#ring(chunk.subarray(room));
  }

  #ring(bytes: Uint8Array): void {
    const size = this.#tail.length;
    if (size === 0) return;
    const skipped = Math.max(0, bytes.length - size);
    const last = bytes.subarray(skipped);
    const at = (this.#past + skipped) % size;
    const first = Math.min(last.length, size - at);
    this.#tail.set(last.subarray(0, first), at);
    this.#tail.set(last.subarray(first), 0);
    this.#past += bytes.length;
  }

  #last(): Buffer {
    const size = this.#tail.length;
    if (this.#past <= size) return this.#tail.subarray(0, this.#past);
    const at = this.#past % size;
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }

  /** The text that is kept, with how many bytes are left out between its halves (never half a character). */
  text(): { text: string; leftOut: number } {
    const head = this.#head.subarray(0, Math.min(this.#total, this.#head.length));
    const tail = this.#last();
    if (this.#total <= this.#head.length + this.#tail.length) {
      return { text: Buffer.concat([head, tail]).toString("utf8"), leftOut: 0 };
    }
    const first = head.subarray(0, head.length - cutTail(head));
    const last = tail.subarray(cutHead(tail));
    const leftOut = this.#total - first.length - last.length;
    const note = `\n[... ${leftOut} bytes left out ...]\n`;
    return { text: first.toString("utf8") + note + last.toString("utf8"), leftOut };
  }
}

/** Bytes of one stream that a watcher gets in one `LIVE_WINDOW_MS`; what comes faster is skipped. */
const LIVE_BYTES = 64 * 1024;
const LIVE_WINDOW_MS = 250;

/**
 * Passes output on as text while it comes, at a pace that a panel can follow: a flood must not
 * fill the memory of whoever watches. Characters split over two chunks come whole.
 */
export class Live {
  #decoder = new StringDecoder("utf8");
  #windowStart = 0;
  #inWindow = 0;
  #skipping = false;

  constructor(private readonly send: (text: string) => void) {}

  add(chunk: Buffer): void {
    const now = performance.now();
    if (now - this.#windowStart >= LIVE_WINDOW_MS) {
      this.#windowStart = now;
      this.#inWindow = 0;
      this.#skipping = false;
    }
    if (this.#inWindow >= LIVE_BYTES) {
      if (!this.#skipping) this.#emit("\n[... too fast to show ...]\n");
      this.#skipping = true;
      this.#decoder = new StringDecoder("utf8");
      return;
    }
    this.#inWindow += chunk.length;
    this.#emit(this.#decoder.write(chunk));
  }

  end(): void {
    this.#emit(this.#decoder.end());
  }

  #emit(text: string): void {
    if (text !== "") this.send(text);
  }
}
