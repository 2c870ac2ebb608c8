/** Characters that a terminal or a panel would not show as they are, bidirectional controls among them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const EACH_HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** The same, less the tab: for lines of text, where a tab is ordinary. */
const EACH_HIDDEN_IN_TEXT =
  /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const NAMED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeCharacter(char: string): string {
  const named = NAMED[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** One line of a file on one line of a result: control and bidirectional characters are escaped. */
export function showLine(text: string): string {
  return text.replace(EACH_HIDDEN_IN_TEXT, escapeCharacter);
}

function quote(text: string): string {
  return text.replace(/[\\"]/g, "\\$&").replace(EACH_HIDDEN, escapeCharacter);
}

/**
 * A name or path on one line. A plain one comes as it is; one that could be taken for something
 * else (control or invisible characters, quotes, an arrow, outer spaces) comes in double quotes
 * with escapes, so that no two names look the same.
 */
export function showName(name: string): string {
  const odd =
    HIDDEN.test(name) || name.startsWith('"') || name.includes(" -> ") || /^\s|\s$/u.test(name);
  return odd ? `"${quote(name)}"` : name;
}

/** `bytes` as UTF-8, or null where they are none. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.includes("\ufffd") && !Buffer.from(text, "utf8").equals(bytes) ? null : text;
}

/** As `showName`, from the bytes of a name: those that are no UTF-8 come as `\xE9`. */
export function showNameBytes(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== null) return showName(text);
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    if (length === 0) {
      shown += `\\x${(bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
      at += 1;
    } else {
      shown += quote(Buffer.from(bytes.subarray(at, at + length)).toString("utf8"));
      at += length;
    }
  }
  return `"${shown}"`;
}

/** Length of the UTF-8 character at `at`, or 0 where there is none. */
function characterAt(bytes: Uint8Array, at: number): number {
  for (let length = 1; length <= 4; length++) {
    if (decodeUtf8(bytes.subarray(at, at + length)) !== null) return length;
  }
  return 0;
}

/** True where `text` holds half a surrogate pair, which no file and no argument can hold. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}
