/** The way back from what a card shows to the bytes, to prove that nothing is lost or ambiguous. */

const NAMED: Record<string, number> = { NUL: 0, TAB: 9, LF: 10, CR: 13, ESC: 27, BOM: 0xfeff };
const ESCAPE = /⟦(?:U\+([0-9A-F]+)|0x([0-9A-F]{2})|([A-Z]+))(?:×([0-9]+))?⟧/gu;

/** The text that `visible` was given, bytes as lone surrogates. */
export function revealText(shown: string): string {
  return shown.replace(ESCAPE, (whole, point, byte, name: string | undefined, times) => {
    const code =
      point !== undefined
        ? Number.parseInt(point, 16)
        : byte !== undefined
          ? 0xdc00 + Number.parseInt(byte, 16)
          : NAMED[name ?? ""];
    if (code === undefined) throw new Error(`an escape that is none: ${whole}`);
    return String.fromCodePoint(code).repeat(times === undefined ? 1 : Number(times));
  });
}

/** The bytes of a text in which U+DC80 to U+DCFF stand for bytes that are no UTF-8. */
export function textBytes(text: string): Buffer {
  const parts = text
    .split(/([\udc80-\udcff])/u)
    .map((part) =>
      /^[\udc80-\udcff]$/u.test(part)
        ? Buffer.from([part.charCodeAt(0) - 0xdc00])
        : Buffer.from(part, "utf8"),
    );
  return Buffer.concat(parts);
}

type Encode = (text: string) => Buffer;
const little: Encode = (text) => Buffer.from(text, "utf16le");
const encoders: Record<string, Encode> = {
  "UTF-16 LE": little,
  "UTF-16 BE": (text) => little(text).swap16(),
};

/** How each side is encoded, by the note that says so. */
function encodings(lines: readonly string[]): { old: Encode; now: Encode } {
  const note = lines.find((line) => /^\\ .*UTF-16/u.test(line)) ?? "";
  const pick = (pattern: RegExp) => encoders[pattern.exec(note)?.[1] ?? ""] ?? textBytes;
  return {
    old: pick(/(?:was |^\\ )(UTF-16 [LB]E)/u),
    now: pick(/(?:will be |^\\ )(UTF-16 [LB]E)/u),
  };
}

function linesOf(file: Uint8Array, encode: Encode): Buffer[] {
  const lines: Buffer[] = [];
  const buffer = Buffer.from(file);
  const end = encode("\n");
  for (let from = 0; from < buffer.length; ) {
    let lf = buffer.indexOf(end, from);
    // Half of two neighbours can look like a line's end.
    while (lf !== -1 && lf % end.length !== 0) lf = buffer.indexOf(end, lf + 1);
    const to = lf === -1 ? buffer.length : lf + end.length;
    lines.push(buffer.subarray(from, to));
    from = to;
  }
  return lines;
}

/** Applies a diff as shown to the bytes it was made from; throws where a line does not fit. */
export function applyShown(before: Uint8Array | null, diff: string): Buffer {
  const out: Buffer[] = [];
  let at = 0;
  const lines = diff === "" ? [] : diff.replace(/\n$/, "").split("\n");
  const encode = encodings(lines);
  const old = linesOf(before ?? Buffer.alloc(0), encode.old);
  const crlf = lines.includes("\\ Every line ends in CRLF, as before");
  for (const [index, line] of lines.entries()) {
    const mark = line.charAt(0);
    if (mark === "\\") continue;
    if (mark === "@") {
      const start = /^@@ -([0-9]+),([0-9]+) \+([0-9]+),([0-9]+) @@$/.exec(line);
      if (start === null) throw new Error(`no hunk header: ${line}`);
      const to = Number(start[2]) === 0 ? Number(start[1]) : Number(start[1]) - 1;
      while (at < to) out.push(old[at++] ?? Buffer.from("?"));
      const place = Number(start[4]) === 0 ? Number(start[3]) : Number(start[3]) - 1;
      if (place !== out.length) throw new Error(`${line} does not start at line ${out.length}`);
      continue;
    }
    const ended = lines[index + 1] !== "\\ No newline at end of file";
    const end = ended ? (crlf ? "\r\n" : "\n") : "";
    const bytes = (mark === "+" ? encode.now : encode.old)(revealText(line.slice(1)) + end);
    if (mark !== "+") {
      const there = old[at++];
      // Only the last, unended line of a CRLF file has none of its own.
      if (there === undefined || !there.equals(bytes)) throw new Error(`does not fit: ${line}`);
    }
    if (mark !== "-") out.push(bytes);
  }
  return Buffer.concat([...out, ...old.slice(at)]);
}
