import { isUtf8 } from "node:buffer";

/** The code point of the UTF-8 character that starts at `at`, or -1 where the byte there starts none. */
function pointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first;
  const second = (bytes[at + 1] ?? 0) ^ 0x80;
  const third = (bytes[at + 2] ?? 0) ^ 0x80;
  const fourth = (bytes[at + 3] ?? 0) ^ 0x80;
  if (first >= 0xc2 && first <= 0xdf && second < 0x40) return ((first & 0x1f) << 6) | second;
  if (first >= 0xe0 && first <= 0xef && second < 0x40 && third < 0x40) {
    const point = ((first & 0x0f) << 12) | (second << 6) | third;
    return point < 0x800 || (point >= 0xd800 && point <= 0xdfff) ? -1 : point;
  }
  if (first >= 0xf0 && first <= 0xf4 && second < 0x40 && third < 0x40 && fourth < 0x40) {
    const point = ((first & 0x07) << 18) | (second << 12) | (third << 6) | fourth;
    return point < 0x10000 || point > 0x10ffff ? -1 : point;
  }
  return -1;
}

/**
 * Bytes as text without losing one: UTF-8, the BOM kept, and each byte that is none as the lone
 * surrogate U+DC00 plus the byte, which no UTF-8 text can hold.
 */
export function decodeBytes(bytes: Uint8Array): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(view)) return view.toString("utf8");
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const point = pointAt(bytes, at);
    if (point === -1) {
      units[length++] = 0xdc00 + (bytes[at] ?? 0);
      at += 1;
    } else if (point < 0x10000) {
      units[length++] = point;
      at += point < 0x80 ? 1 : point < 0x800 ? 2 : 3;
    } else {
      units[length++] = 0xd800 + ((point - 0x10000) >> 10);
      units[length++] = 0xdc00 + ((point - 0x10000) & 0x3ff);
      at += 4;
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString("utf16le");
}

/** A file that begins with a byte order mark of UTF-16. */
export type WideEncoding = "UTF-16 LE" | "UTF-16 BE";

/**
 * A UTF-16 file as its text, the mark kept. Undefined where there is no mark, or where half a
 * character stands alone: such a file is shown byte by byte, so that nothing of it is lost.
 */
export function decodeWide(
  bytes: Uint8Array,
): { readonly encoding: WideEncoding; readonly text: string } | undefined {
  const little = bytes[0] === 0xff && bytes[1] === 0xfe;
  const big = bytes[0] === 0xfe && bytes[1] === 0xff;
  if (!(little || big) || bytes.length % 2 !== 0) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (big ? Buffer.from(view).swap16() : view).toString("utf16le");
  if (/\p{Surrogate}/u.test(text)) return undefined;
  return { encoding: little ? "UTF-16 LE" : "UTF-16 BE", text };
}
