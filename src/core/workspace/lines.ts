/** How much of the end of a line that is too long is kept, in bytes. */
const TAIL_BYTES = 64 * 1024;

/**
 * Cuts a stream into lines without ever holding more than `limit` bytes of one: of a longer line
 * the first and the last part are given.
 */
export class LineSplitter {
  #parts: Buffer[] = [];
  #length = 0;
  #tail: Buffer | undefined;

  constructor(
    private readonly limit: number,
    /** Called for each line; `rest` is the end of a line that was too long, whose middle is lost. */
    private readonly onLine: (line: Buffer, rest: Buffer | undefined) => void,
  ) {}

  add(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#take(chunk.subarray(from, end));
      this.#flush();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
  }

  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length <= this.limit) {
      this.#parts.push(part);
      return;
    }
    const tail = this.#tail === undefined ? part : Buffer.concat([this.#tail, part]);
    this.#tail = Buffer.from(tail.subarray(Math.max(0, tail.length - TAIL_BYTES)));
  }

  #flush(): void {
    const line = Buffer.concat(this.#parts);
    const tail = this.#tail;
    this.#parts = [];
    this.#length = 0;
    this.#tail = undefined;
    this.onLine(line, tail);
  }
}
