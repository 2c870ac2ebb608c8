/* Apart from the messages' schemas, which are loaded with a page: the shell knows these at once. */

/** Events a snapshot carries at most; a panel asks for earlier ones page by page. */
export const SNAPSHOT_EVENTS = 1_000;
/** Characters of one text that go to a panel unasked. */
export const VIEW_CHARS = 8_000;
