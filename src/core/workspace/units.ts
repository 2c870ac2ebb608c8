/**
 * A file as a string with one character for each unit (byte, or 16 bits for UTF-16), which loses
 * nothing, whatever the bytes are; and text in the same units.
 */
export interface Units {
  readonly file: string;
  /** What follows the units: half a unit at the end of a UTF-16 file of odd length. */
  readonly rest: Uint8Array;
  /** Bytes of a unit. */
  readonly width: number;
  /** Where the text begins, after a byte order mark. */
  readonly start: number;
  encode(text: string): string;
  decode(units: string): string;
  toBytes(units: string): Buffer;
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16();
}

/** A file in its units: bytes, or 16 bits where it begins with a byte order mark of UTF-16. */
export function fileUnits(bytes: Uint8Array): Units {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = buffer[0] === 0xff && buffer[1] === 0xfe;
  const big = buffer[0] === 0xfe && buffer[1] === 0xff;
  if (little || big) {
    const even = buffer.subarray(0, buffer.length - (buffer.length % 2));
    return {
      file: (big ? swapped(even) : even).toString("utf16le"),
      rest: buffer.subarray(even.length),
      width: 2,
      start: 1,
      encode: (text) => text,
      decode: (units) => units,
      toBytes: (units) => {
        const plain = Buffer.from(units, "utf16le");
        return big ? swapped(plain) : plain;
      },
    };
  }
  const marked = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf;
  return {
    file: buffer.toString("latin1"),
    rest: buffer.subarray(buffer.length),
    width: 1,
    start: marked ? 3 : 0,
    encode: (text) => Buffer.from(text, "utf8").toString("latin1"),
    decode: (units) => Buffer.from(units, "latin1").toString("utf8"),
    toBytes: (units) => Buffer.from(units, "latin1"),
  };
}
