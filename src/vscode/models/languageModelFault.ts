import { ChatError } from "../../core/model/chatClient.js";
import { isRecord, scrub } from "../../core/model/errors.js";

/**
 * What VS Code or a provider behind it threw, as an error for the user. Codes are compared as
 * text, since an error that crossed processes may have lost its class.
 */
export function languageModelFault(error: unknown, name: string, delivered: boolean): ChatError {
  if (error instanceof ChatError) return error;
  const code = isRecord(error) && typeof error.code === "string" ? error.code : "";
  const cause = error instanceof Error ? error.cause : undefined;
  const said = scrub(
    [error, cause]
      .map((one) => (one instanceof Error ? one.message : ""))
      .filter((message) => message !== "")
      .join(": "),
    [],
  ).slice(0, 400);
  const because = said === "" ? "" : ` (${said})`;
  if (code === "NoPermissions" || /no permission|not permitted|consent|access denied/i.test(said)) {
    return new ChatError(
      "consent",
      `VS Code does not let Countersign use “${name}”${because}. Send again and choose Allow, or allow it with “Manage Language Model Access” in the Accounts menu.`,
    );
  }
  if (code === "NotFound" || /model.{0,40}(not found|unavailable|does not exist)/i.test(said)) {
    return new ChatError(
      "model",
      `VS Code has no model “${name}” any more${because}. Pick another with “Select Model…”.`,
    );
  }
  if (code === "Blocked" || /quota|rate.?limit|too many requests|exhausted/i.test(said)) {
    return new ChatError(
      "quota",
      `The quota of “${name}” is used up, or VS Code has blocked it${because}. Wait, check the plan at its provider, or pick another with “Select Model…”.`,
    );
  }
  if (/context|too long|token limit|maximum.{0,20}tokens|message exceeds/i.test(said)) {
    return new ChatError(
      "context",
      `The conversation is longer than “${name}” can take${because}. Start a new session, or pick a model with a larger context.`,
    );
  }
  if (
    /ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|fetch failed|net::|network|socket|timed? ?out/i.test(said)
  ) {
    return new ChatError(
      "connection",
      `The connection of “${name}” failed${because}. Check the network.`,
      !delivered,
    );
  }
  return new ChatError(
    "stream",
    `The answer of “${name}” ended in an error${because}. Nothing of it was carried out; go on to ask again, or pick another model.`,
  );
}
