type Symbols = Uint16Array | Int32Array;

/** How far a search can go back after a mismatch: the borders of `wanted` (Knuth, Morris, Pratt). */
function bordersOf(wanted: Symbols): Int32Array {
  const borders = new Int32Array(wanted.length);
  for (let at = 1, length = 0; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}

/**
 * Every index at which `wanted` (not empty) is in `text`, overlapping ones too, in time that grows
 * with the two lengths alone: `indexOf` takes seconds where a text nearly matches at every index.
 */
export function* occurrences(text: Symbols, wanted: Symbols): Generator<number> {
  const borders = bordersOf(wanted);
  for (let at = 0, length = 0; at < text.length; at++) {
    while (length > 0 && text[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (text[at] === wanted[length]) length += 1;
    if (length === wanted.length) {
      yield at - length + 1;
      length = borders[length - 1] ?? 0;
    }
  }
}

/** The UTF-16 units of a text. */
function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index);
  return units;
}

/** Below this many characters `indexOf` is quick whatever the text is. */
const SHORT = 32;

/** Every index at which `wanted` (not empty) is in `text`; overlapping ones only where asked for. */
export function indexesOf(text: string, wanted: string, overlapping = false): number[] {
  const found: number[] = [];
  const step = overlapping ? 1 : wanted.length;
  if (wanted.length <= SHORT) {
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) {
      found.push(at);
    }
    return found;
  }
  let next = 0;
  for (const at of occurrences(unitsOf(text), unitsOf(wanted))) {
    if (at < next) continue;
    found.push(at);
    next = at + step;
  }
  return found;
}
