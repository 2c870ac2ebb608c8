/**
 * Text made safe to look at. Every character that a person cannot see, or that changes how its
 * neighbours are shown, becomes `⟦U+202E⟧`, a frequent one by its name (`⟦CR⟧`), and four or more
 * of one kind in a row `⟦LF×200⟧`. The bracket `⟦` itself is escaped too, so that no text can look
 * like the escape of another: two texts that differ never come out the same.
 */

/**
 * Controls, format and bidirectional controls, private and unassigned characters, lone surrogates,
 * every space but the plain one, fillers and variation selectors, the blanks of Braille, musical,
 * Khitan and Egyptian writing, and the stand-in for an object that is not there.
 */
const HIDDEN =
  /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{16fe4}\u{13441}\u{13442}\ufffc⟦]/u;
const NAMES = new Map([
  [0x00, "NUL"],
  [0x09, "TAB"],
  [0x0a, "LF"],
  [0x0d, "CR"],
  [0x1b, "ESC"],
  [0xfeff, "BOM"],
]);
/** From this many on, equal hidden characters in a row are counted instead of repeated. */
const RUN = 4;

function hidden(point: number): boolean {
  return point !== 0x20 && HIDDEN.test(String.fromCodePoint(point));
}

/** One flag per UTF-16 unit; surrogates are looked at as pairs. Made once, when first needed. */
let table: Uint8Array | undefined;
function units(): Uint8Array {
  if (table !== undefined) return table;
  table = new Uint8Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit += 1) {
    if ((unit >= 0xd800 && unit <= 0xdfff) || hidden(unit)) table[unit] = 1;
  }
  return table;
}

function label(point: number): string {
  return NAMES.get(point) ?? `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

function byteLabel(point: number): string {
  return `0x${(point - 0xdc00).toString(16).toUpperCase()}`;
}

/** The escapes seen so far, which come in great numbers in a binary line. */
const escapes = new Map<number, string>();
function escapeOf(point: number, isByte: boolean): string {
  const key = isByte ? -point : point;
  let text = escapes.get(key);
  if (text === undefined) {
    text = `⟦${isByte ? byteLabel(point) : label(point)}⟧`;
    escapes.set(key, text);
  }
  return text;
}

/** Builds a long string out of UTF-16 units: much faster than many short strings joined. */
class Units {
  readonly #parts: string[] = [];
  readonly #units = new Uint16Array(16 * 1024);
  #length = 0;

  unit(unit: number): void {
    if (this.#length === this.#units.length) this.#flush();
    this.#units[this.#length] = unit;
    this.#length += 1;
  }

  text(text: string): void {
    for (let i = 0; i < text.length; i += 1) this.unit(text.charCodeAt(i));
  }

  #flush(): void {
    const view = Buffer.from(this.#units.buffer, 0, this.#length * 2);
    this.#parts.push(view.toString("utf16le"));
    this.#length = 0;
  }

  end(): string {
    this.#flush();
    return this.#parts.join("");
  }
}

export interface VisibleOptions {
  /** Characters that stay as they are, `"\n\t"` say; by default line breaks and tabs are escaped too. */
  readonly keep?: string;
  /**
   * Lone surrogates U+DC80 to U+DCFF stand for the bytes 0x80 to 0xFF that were no UTF-8, as
   * `decodeBytes` gives them, and come out as `⟦0xE9⟧`.
   */
  readonly bytes?: boolean;
}

/** Makes every hidden character of `text` visible, for argv, paths and anything else on a card. */
export function visible(text: string, options: VisibleOptions = {}): string {
  const flags = units();
  const keep = options.keep ?? "";
  let at = 0;
  while (at < text.length && flags[text.charCodeAt(at)] === 0) at += 1;
  if (at === text.length) return text;
  const out = new Units();
  out.text(text.slice(0, at));
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (flags[unit] === 0) {
      out.unit(unit);
      at += 1;
      continue;
    }
    const point = text.codePointAt(at) ?? unit;
    const width = point > 0xffff ? 2 : 1;
    let end = at + width;
    if ((width === 2 && !hidden(point)) || keep.includes(String.fromCharCode(unit))) {
      out.text(text.slice(at, end));
      at = end;
      continue;
    }
    while (end < text.length && text.codePointAt(end) === point) end += width;
    const count = (end - at) / width;
    const isByte = options.bytes === true && point >= 0xdc80 && point <= 0xdcff;
    const once = escapeOf(point, isByte);
    out.text(count < RUN ? once.repeat(count) : `${once.slice(0, -1)}×${count}⟧`);
    at = end;
  }
  return out.end();
}

/** Characters that change the direction of the text around them. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Whether `text` holds a character that reorders its neighbours on screen. */
export function hasBidi(text: string): boolean {
  return BIDI.test(text);
}
