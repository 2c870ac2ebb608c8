import { isUtf8 } from "node:buffer";
import { hasBidi } from "./visible.js";

const LONE_CR = /\r(?!\n)/u;
const LONE_LF = /(?<!\r)\n/u;
/** Controls but tab and line ends, separators that an editor takes for line ends, tag characters. */
const TRAP =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u{e0000}-\u{e007f}]/u;

/**
 * Why a text cannot go through an editor and come back byte for byte, or would not be seen there
 * as it is; undefined where it can be edited. For the user, after "Cannot be edited: ".
 */
export function whyFixed(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return "it is not UTF-8.";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (hasBidi(text) || TRAP.test(text)) return "it holds characters that an editor does not show.";
  if (LONE_CR.test(text) || (text.includes("\r\n") && LONE_LF.test(text))) {
    return "its line ends are mixed, and an editor would make them all the same.";
  }
  return undefined;
}
