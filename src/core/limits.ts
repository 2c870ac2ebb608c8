/**
 * Every number of the specification, once. Bytes are bytes (KiB = 1024), times are milliseconds
 * unless the name says otherwise. Each limit has a test on both sides.
 */
const KiB = 1024;

/** Characters of a path in a call: every part of it is a question to the disk. */
export const PATH_CHARS = 32 * KiB;
/** What `read_file` returns at most, in bytes of the file. */
export const READ_BYTES = 32 * KiB;
/** How far into a file a NUL byte makes it binary. */
export const BINARY_SNIFF_BYTES = 8 * KiB;
/** Matches `grep` returns at most; ripgrep is ended when they are there. */
export const GREP_MATCHES = 200;
/** Characters of a matching line that `grep` shows around the match. */
export const GREP_LINE_CHARS = 500;
/** How long `grep` may take before it answers with what there is. */
export const GREP_TIMEOUT_MS = 20_000;
/** Names `list_dir` returns at most. */
export const LIST_NAMES = 500;
/** Size of a file after `write_file` or `search_replace`, and before `search_replace`, in bytes. */
export const WRITE_BYTES = 256 * KiB;
/** Size of a file that `write_file` may replace, in bytes: its card shows what goes away. */
export const REPLACED_BYTES = 16 * 1024 * KiB;
/** `run`: default and longest time limit, in whole seconds. */
export const RUN_TIMEOUT_S = 120;
export const RUN_TIMEOUT_MAX_S = 600;
/** `run`: bytes kept of each stream; over it, the first and the last half are kept. */
export const RUN_STREAM_BYTES = 64 * KiB;
/** Between SIGTERM and SIGKILL. */
export const KILL_AFTER_MS = 2_000;
/** Processes that the result of a command cut short names, and characters of each command line. */
export const LISTED_PROCESSES = 10;
export const PROCESS_CHARS = 200;

/** A card's diff is whole up to this many bytes; a larger one keeps `DIFF_LINES` lines. */
export const DIFF_BYTES = 64 * KiB;
export const DIFF_LINES = 400;
/** Lines of context in a unified diff. */
export const DIFF_CONTEXT = 3;
/** Blanks in a row, with text on both sides, of which a card says that they may hide what follows. */
export const CARD_BLANKS = 80;
/** Time a fine line diff may take before a coarser one takes its place. */
export const DIFF_TIMEOUT_MS = 40;

/** Answers that a question may offer, and characters of each: they are buttons. */
export const ASK_OPTIONS = 10;
export const ASK_OPTION_CHARS = 200;

/** Model answers in one turn. */
export const TURN_ANSWERS = 200;
/** Levels that the arguments of a call may be nested: JSON is written by going down into it. */
export const ARGS_DEPTH = 64;
/** Times Stop hooks may block one turn. */
export const HOOK_BLOCKS = 5;
/** A Stop hook's default time limit, in seconds, and how much of its output is kept. */
export const HOOK_TIMEOUT_S = 60;
export const HOOK_OUTPUT_BYTES = 16 * KiB;
/** How much of `AGENTS.md` goes into the system prompt. */
export const AGENTS_MD_BYTES = 32 * KiB;
/** System prompt and tool definitions together, without `AGENTS.md` and the list of skills. */
export const PROMPT_BYTES = 12_000;

/** Attempts at one model request, the first included. */
export const MODEL_ATTEMPTS = 6;
/** First wait between attempts (doubles), the longest of ours, and the longest a server may ask for. */
export const RETRY_FIRST_MS = 1_000;
export const RETRY_LONGEST_MS = 30_000;
export const RETRY_AFTER_LONGEST_MS = 300_000;
/** One event of a model's stream, and one answer as it comes over the wire, in bytes. */
export const STREAM_EVENT_BYTES = 32 * 1024 * KiB;
export const ANSWER_BYTES = 64 * 1024 * KiB;
/** One answer of Ollama's about its models, in bytes. */
export const OLLAMA_BYTES = 4 * 1024 * KiB;
/** Silence on a model's stream after which it counts as broken. */
export const MODEL_IDLE_MS = 120_000;
/** The shortest and the longest silence that a user may set, in seconds. */
export const MODEL_IDLE_SHORTEST_S = 10;
export const MODEL_IDLE_LONGEST_S = 300;
/** Tokens a model may answer with, where neither it nor the user says otherwise. */
export const MAX_OUTPUT_TOKENS = 8_192;
/** A model's context window in tokens, where nothing says otherwise. */
export const CONTEXT_TOKENS = 128_000;

/** Live deltas are gathered for this long before they go to a panel. */
export const DELTA_BATCH_MS = 30;

/** A session's log as a document: characters of one text in it, and of all of it, the newest. */
export const LOG_TEXT_CHARS = 8 * KiB;
export const LOG_VIEW_CHARS = 4 * 1024 * KiB;
/** A session's log grows to this many bytes at most; of a longer one this much is shown. */
export const LOG_OPEN_BYTES = 256 * 1024 * KiB;
