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

function linesOf(file: Uint8Array): Buffer[] {
  const lines: Buffer[] = [];
  const buffer = Buffer.from(file);
  for (let from = 0; from < buffer.length; ) {
    const lf = buffer.indexOf(10, from);
    const to = lf === -1 ? buffer.length : lf + 1;
    lines.push(buffer.subarray(from, to));
    from = to;
  }
  return lines;
}

/** Applies a diff as shown to the bytes it was made from; throws where a line does not fit. */
export function applyShown(before: Uint8Array | null, diff: string): Buffer {
  const old = linesOf(before ?? Buffer.alloc(0));
  const out: Buffer[] = [];
  let at = 0;
  const lines = diff === "" ? [] : diff.replace(/\n$/, "").split("\n");
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
    const bytes = textBytes(revealText(line.slice(1)) + end);
    if (mark !== "+") {
      const there = old[at++];
      // Only the last, unended line of a CRLF file has none of its own.
      if (there === undefined || !there.equals(bytes)) throw new Error(`does not fit: ${line}`);
    }
    if (mark !== "-") out.push(bytes);
  }
  return Buffer.concat([...out, ...old.slice(at)]);
}
