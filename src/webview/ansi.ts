/** A stretch of output in one style. */
export interface Span {
  readonly text: string;
  /** CSS classes, "" for plain text. */
  readonly style: string;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** CSI and OSC sequences, and the other escapes of two characters. */
const ESCAPE =
  /\u001b\[([0-9:;<=>?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?/g;

interface Pen {
  fg: string;
  bg: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}
const fresh = (): Pen => ({
  fg: "",
  bg: "",
  bold: false,
  dim: false,
  italic: false,
  underline: false,
});

/**
 * Terminal output as styled spans. Colours of the 16 are kept, those of the 256 and the true ones
 * come as the nearest of the 16; everything that would move the cursor is left out, and a line
 * that was written over by a carriage return shows what was written last.
 */
export function parseAnsi(output: string): Span[] {
  const spans: Span[] = [];
  const pen = fresh();
  let at = 0;
  const text = output.includes("\r") ? overwritten(output) : output;
  for (const match of text.matchAll(ESCAPE)) {
    push(spans, text.slice(at, match.index), pen);
    at = match.index + match[0].length;
    if (match[2] === "m") applySgr(pen, match[1] ?? "");
  }
  push(spans, text.slice(at), pen);
  return spans;
}

/** Of each line, what the last carriage return in it left to be seen. */
function overwritten(output: string): string {
  return output
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n");
}

function push(spans: Span[], text: string, pen: Pen): void {
  // What is left of the control characters would be invisible: it goes.
  const clean = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  if (clean === "") return;
  const style = classes(pen);
  const last = spans.at(-1);
  if (last?.style === style) spans[spans.length - 1] = { text: last.text + clean, style };
  else spans.push({ text: clean, style });
}

function classes(pen: Pen): string {
  const names: string[] = [];
  if (pen.fg) names.push(`fg-${pen.fg}`);
  if (pen.bg) names.push(`bg-${pen.bg}`);
  for (const flag of ["bold", "dim", "italic", "underline"] as const)
    if (pen[flag]) names.push(`ansi-${flag}`);
  return names.join(" ");
}

function applySgr(pen: Pen, parameters: string): void {
  const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(pen, fresh());
    else if (code === 1) pen.bold = true;
    else if (code === 2) pen.dim = true;
    else if (code === 3) pen.italic = true;
    else if (code === 4) pen.underline = true;
    else if (code === 22) pen.bold = pen.dim = false;
    else if (code === 23) pen.italic = false;
    else if (code === 24) pen.underline = false;
    else if (code >= 30 && code <= 37) pen.fg = NAMES[code - 30] ?? "";
    else if (code >= 90 && code <= 97) pen.fg = `bright-${NAMES[code - 90] ?? ""}`;
    else if (code === 39) pen.fg = "";
    else if (code >= 40 && code <= 47) pen.bg = NAMES[code - 40] ?? "";
    else if (code >= 100 && code <= 107) pen.bg = NAMES[code - 100] ?? "";
    else if (code === 49) pen.bg = "";
    else if (code === 38 || code === 48) {
      const mode = codes[i + 1];
      const colour =
        mode === 5
          ? from256(codes[i + 2] ?? 0)
          : nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0);
      if (code === 38) pen.fg = colour;
      else pen.bg = colour.replace("bright-", "");
      i += mode === 5 ? 2 : 4;
    }
  }
}

function from256(code: number): string {
  if (code < 8) return NAMES[code] ?? "";
  if (code < 16) return `bright-${NAMES[code - 8] ?? ""}`;
  if (code >= 232) return code < 244 ? "bright-black" : "white";
  const cube = code - 16;
  const level = (n: number) => (n % 6) * 51;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube));
}

/** One bit a channel: the name of the corner of the cube that a colour is in. */
function nearest(red: number, green: number, blue: number): string {
  const top = Math.max(red, green, blue);
  if (top < 64) return "black";
  const bit = (channel: number) => (channel * 2 >= top ? 1 : 0);
  return NAMES[bit(red) + 2 * bit(green) + 4 * bit(blue)] ?? "";
}
