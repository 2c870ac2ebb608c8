/** Characters of a title at most. */
const TITLE_CHARS = 60;

/** Characters of a text that are looked at for its title: an ask may be of many megabytes. */
const LOOKED_AT = 4_096;

/** The title of a session nobody has named yet. */
export const NO_TITLE = "New session";

/** One line of at most `TITLE_CHARS` characters, cut between words where that is possible. */
export function titleFrom(text: string): string {
  const line = text
    .slice(0, LOOKED_AT)
    .replace(/[\s\u2028\u2029\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  if (line === "") return NO_TITLE;
  const characters = [...line];
  if (characters.length <= TITLE_CHARS) return line;
  const cut = characters.slice(0, TITLE_CHARS - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > TITLE_CHARS / 2 ? cut.slice(0, space) : cut}…`;
}
