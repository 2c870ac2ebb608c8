import { RETRY_AFTER_LONGEST_MS } from "../limits.js";
import { messageOf } from "../messageOf.js";
import { ChatError, type ChatErrorKind } from "./chatClient.js";

/** How the host lets a user mend things, as the ends of an error's sentences. */
export interface Advice {
  /** After "Set the right one": "with “Set API Key…”", "in OPENAI_API_KEY". */
  readonly setKey: string;
  /** After "pick another": "with “Select Model…”", "in OPENAI_MODEL". */
  readonly pickModel: string;
}

/** What an error speaks of; `secrets` never appear in its text. */
export interface ErrorContext {
  /** Origin and path of the server, without query or credentials. */
  readonly server: string;
  readonly model: string;
  readonly secrets: readonly string[];
  readonly advice?: Advice | undefined;
}

/** A sentence with the host's advice at its end, where there is any. */
export function advised(sentence: string, advice: string | undefined): string {
  return advice === undefined ? `${sentence}.` : `${sentence} ${advice}.`;
}

/** What a server says about what went wrong, wherever in its answer it says it. */
export interface ServerFault {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly message?: string | undefined;
  /** The body is a web page: a proxy, a login, the wrong address. */
  readonly page?: boolean;
  readonly retryAfter?: number | undefined;
}

const DETAIL_CHARS = 400;

/** So many first characters of a secret at the end of a text are taken for a secret that was cut. */
const CUT_CHARS = 4;

/**
 * Takes every secret out of a text, one that is cut at its end too (bodies are cut before they come
 * here), and control characters with them.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  const forms = [...secrets]
    .sort((a, b) => b.length - a.length)
    .filter((secret) => secret !== "")
    .flatMap((secret) => [
      ...new Set([
        secret,
        encodeURIComponent(secret),
        encodeURI(secret),
        JSON.stringify(secret).slice(1, -1),
      ]),
    ]);
  let clean = text;
  for (const form of forms) clean = clean.replaceAll(form, "…");
  clean = clean.replace(/[\u0000-\u001f\u007f]+/g, " ").trim();
  const cut = Math.max(0, ...forms.map((form) => cutOff(clean, form)));
  return cut === 0 ? clean : `${clean.slice(0, -cut)}…`;
}

/** How many characters at the end of a text are the beginning of a secret. */
function cutOff(text: string, secret: string): number {
  for (let length = secret.length - 1; length >= CUT_CHARS; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** A URL as it may be shown: no credentials, no query. */
export function shownUrl(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}`;
  } catch {
    return "the base URL";
  }
}

/** `retry-after-ms` or `retry-after` (seconds or an HTTP date), in milliseconds from `now`. */
function retryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const ms = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number.parseFloat(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A server's error body, in any of the shapes in use. */
export function faultOf(body: string, status?: number, headers?: Headers): ServerFault {
  const after = headers === undefined ? undefined : retryAfter(headers);
  const trimmed = body.trim();
  const page =
    /^<(!doctype|html|head|\?xml)/i.test(trimmed) ||
    (headers?.get("content-type") ?? "").includes("text/html");
  if (page) return { status, page, retryAfter: after };
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    return { status, message: trimmed.slice(0, 4_096), retryAfter: after };
  }
  const fault = faultIn(value) ?? { message: trimmed.slice(0, 4_096) };
  return { ...fault, status: status ?? fault.status, retryAfter: after };
}

/** An error inside a parsed JSON value, or undefined where there is none. */
export function faultIn(value: unknown): ServerFault | undefined {
  if (Array.isArray(value)) return faultIn(value[0]);
  if (!isRecord(value)) return undefined;
  const error =
    value.error ?? (value.type === "error" || value.object === "error" ? value : undefined);
  if (typeof error === "string" && error !== "") return { message: error };
  if (isRecord(error)) {
    const code = error.code ?? error.status;
    const number = typeof code === "number" ? code : undefined;
    return {
      status: number !== undefined && number >= 400 && number < 600 ? number : undefined,
      code: code === null || code === undefined ? undefined : String(code),
      type: text(error.type),
      message: text(error.message) ?? JSON.stringify(error).slice(0, 4_096),
    };
  }
  const plain = text(value.message) ?? text(value.detail);
  return plain === undefined ? undefined : { message: plain };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a JSON value is an object: no list and not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const CONTEXT =
  /context[_ ](length|window|size)|maximum context|prompt is too long|too many tokens|input is too long|exceeds? the (available )?context|n_ctx|reduce the length/i;
const QUOTA =
  /insufficient[_ ]quota|exceeded your current quota|credit balance|billing|payment required|out of credits/i;
const KEY = /api[_ -]?key|authenti?cation|unauthori[sz]ed/i;
const MODEL =
  /model.{0,80}(not found|does not exist|not exist|not supported|unknown|not loaded|not available)|(unknown|no such|invalid) model|try pulling/i;
const NO_TOOLS =
  /does not support (tools|functions?)|tool (use|calling|choice).{0,40}(not supported|requires)|tools?.{0,20}not supported/i;
const BUSY =
  /overloaded|rate.?limit|server.?error|internal|timeout|timed out|unavailable|capacity|try again/i;

function kindOf(fault: ServerFault): { kind: ChatErrorKind; retry: boolean } {
  const { status } = fault;
  const words = `${fault.code ?? ""} ${fault.type ?? ""} ${fault.message ?? ""}`;
  // A page is a proxy's or a login's: the model has not been asked yet.
  if (fault.page === true && (status === undefined || (status < 500 && status !== 429))) {
    return { kind: "connection", retry: false };
  }
  if (status === 401 || status === 403) return { kind: "key", retry: false };
  if (status === 402) return { kind: "quota", retry: false };
  if (status === 413) return { kind: "context", retry: false };
  if (status === 429) {
    const spent =
      /insufficient_quota/.test(words) || /exceeded your current quota|credit balance/i.test(words);
    return spent ? { kind: "quota", retry: false } : { kind: "overloaded", retry: true };
  }
  if (status === undefined || (status >= 400 && status < 500 && status !== 408 && status !== 409)) {
    if (CONTEXT.test(words)) return { kind: "context", retry: false };
    if (QUOTA.test(words)) return { kind: "quota", retry: false };
    if (NO_TOOLS.test(words)) return { kind: "model", retry: false };
    if (status === 404 || MODEL.test(words)) return { kind: "model", retry: false };
    if (status !== undefined && KEY.test(words)) return { kind: "key", retry: false };
    if (status !== undefined) return { kind: "request", retry: false };
    return BUSY.test(words)
      ? { kind: "overloaded", retry: true }
      : { kind: "stream", retry: false };
  }
  // A context that is too long is a 500 with some local servers, and no wait makes it shorter.
  if (CONTEXT.test(words)) return { kind: "context", retry: false };
  return { kind: "overloaded", retry: true };
}

/**
 * A server's fault as an error for the user. `delivered`: something of the answer has been shown
 * already, so it is never tried again by itself.
 */
export function chatError(fault: ServerFault, context: ErrorContext, delivered = false): ChatError {
  const { kind, retry } = kindOf(fault);
  const { server, model, advice } = context;
  const said = scrub(fault.message ?? "", context.secrets).slice(0, DETAIL_CHARS);
  const status = fault.status === undefined ? "" : `status ${fault.status}`;
  const detail = [status, fault.page === true ? "a web page instead of an answer" : said]
    .filter((part) => part !== "")
    .join(": ");
  const because = detail === "" ? "" : ` (${detail})`;
  const words = `${fault.code ?? ""} ${fault.type ?? ""} ${fault.message ?? ""}`;
  const tooLong = fault.retryAfter !== undefined && fault.retryAfter > RETRY_AFTER_LONGEST_MS;
  const again = retry && !delivered && !tooLong;
  const message = ((): string => {
    if (fault.page === true && kind !== "overloaded") {
      return `${server} answered with a web page${status === "" ? "" : ` (${status})`}, not with a model. Check the base URL, and whether a proxy or a login stands in between.`;
    }
    switch (kind) {
      case "key":
        return fault.status === 403
          ? `${server} refused the request${because}. ${advised(`The key may not use the model “${model}”; check the key's rights, or set another`, advice?.setKey)}`
          : `${server} did not accept the key${because}. ${advised("Set the right one", advice?.setKey)}`;
      case "quota":
        return `The account at ${server} has no quota left${because}. ${advised("Check its plan and billing, or pick another model", advice?.pickModel)}`;
      case "model":
        return NO_TOOLS.test(words)
          ? `The model “${model}” at ${server} cannot use tools${because}. ${advised("Pick one that can", advice?.pickModel)}`
          : `${server} has no model “${model}”${because}. ${advised("Check the model's name and the base URL, or pick another", advice?.pickModel)}`;
      case "context":
        return `The conversation is longer than the model “${model}” at ${server} can take${because}. Start a new session, or pick a model with a larger context.`;
      case "overloaded":
        return tooLong
          ? `${server} asks to wait ${Math.ceil((fault.retryAfter ?? 0) / 60_000)} minutes${because}. Try again then, or pick another model.`
          : `${server} is overloaded or limits requests${because}. Try again in a while, or pick another model.`;
      case "request":
        return `${server} did not accept the request${because}. Check the model and its settings; if they are right, this is a fault of Countersign worth a report.`;
      default:
        return `The answer of ${server} ended in an error${because}. Nothing of it was carried out; go on to ask again.`;
    }
  })();
  return new ChatError(kind, message, again, fault.retryAfter);
}

/** System error codes after which a wait does not help. */
const HOPELESS = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|ERR_INVALID_URL/;

/** A connection that could not be made or broke before its answer began. */
export function connectionError(error: unknown, context: ErrorContext): ChatError {
  const code = codeOf(error);
  const { server } = context;
  const loopback = isLoopback(server);
  if (code === "ECONNREFUSED") {
    return new ChatError(
      "connection",
      `Nothing answers at ${server}. Start the server there, or check the base URL.`,
      !loopback,
    );
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return new ChatError(
      "connection",
      `The name of the server in ${server} is not known (${code}). Check the base URL and the network.`,
      true,
    );
  }
  if (HOPELESS.test(code)) {
    return new ChatError(
      "connection",
      `No secure connection to ${server} (${code}). Check the base URL, the server's certificate and any proxy.`,
    );
  }
  const reason =
    code === "" ? scrub(messageOf(error), context.secrets).slice(0, DETAIL_CHARS) : code;
  return new ChatError(
    "connection",
    `The connection to ${server} failed (${reason}). Check the network and whether the server runs.`,
    true,
  );
}

/** Whether a URL names this machine itself; false for what is no URL. */
export function isLoopback(url: string): boolean {
  try {
    const { hostname } = new URL(url);
    return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
  } catch {
    return false;
  }
}

/** The innermost `code` of an error and its causes. */
function codeOf(error: unknown): string {
  let code = "";
  let at: unknown = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    if ("code" in at && typeof at.code === "string") code = at.code;
    const first: unknown = at instanceof AggregateError ? at.errors[0] : at.cause;
    at = first;
  }
  return code;
}
