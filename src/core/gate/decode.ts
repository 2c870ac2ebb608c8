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
