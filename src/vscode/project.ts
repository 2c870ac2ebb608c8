import { visible } from "../core/gate/visible.js";
import type { EventOf, SessionEvent } from "../core/session/events.js";
import type { ViewEvent } from "../webview/protocol.js";
import { VIEW_CHARS } from "../webview/sizes.js";

/** Characters of one text that a panel gets when it asks for the whole. */
const WHOLE_CHARS = 1_000_000;

/**
 * An event as a panel shows it. What nobody reads there stays behind (every byte proposed, what a
 * provider wants back), long texts are cut, and what a card names has nothing invisible in it.
 */
export function project(event: SessionEvent, limit: number = VIEW_CHARS): ViewEvent {
  let cut = false;
  const short = (text: string): string => {
    if (text.length <= limit) return text;
    cut = true;
    return text.slice(0, limit);
  };
  const mark = <E extends SessionEvent>(made: E): ViewEvent => (cut ? { ...made, cut } : made);
  switch (event.type) {
    case "turn_started":
    case "result":
      return mark({ ...event, text: short(event.text) });
    case "model_answered": {
      const { extra: _, ...rest } = event;
      const calls = event.calls.map((call) => ({
        ...call,
        args: call.args === null ? null : shortArgs(call.args, short),
        ...(call.invalid === undefined ? {} : { invalid: short(call.invalid) }),
      }));
      const reasoning = event.reasoning === undefined ? {} : { reasoning: short(event.reasoning) };
      return mark({ ...rest, text: short(event.text), calls, ...reasoning });
    }
    case "card_raised":
      return projectCard(event);
    case "card_edited":
      return projectEdit(event);
    case "call_ended":
      return mark({ ...event, result: short(event.result) });
    case "hook_ended":
      return mark(event.output === undefined ? event : { ...event, output: short(event.output) });
    case "undo_started": {
      const files = event.files.map((file) => ({
        ...file,
        path: visible(file.path),
        ...(file.relative === undefined ? {} : { relative: visible(file.relative) }),
      }));
      return { ...event, files };
    }
    case "undo_file":
      return { ...event, path: visible(event.path) };
    default:
      return event;
  }
}

/** The event whole, but for what would be too much for any panel. */
export function projectWhole(event: SessionEvent): ViewEvent {
  return project(event, WHOLE_CHARS);
}

/** A card for the screen: every invisible character of a path or an argument is made visible. */
export function projectCard(event: EventOf<"card_raised">): EventOf<"card_raised"> {
  const { proposed: _, ...rest } = event;
  const shown = (text: string) => visible(text);
  return {
    ...rest,
    ...(event.path === undefined ? {} : { path: shown(event.path) }),
    ...(event.relative === undefined ? {} : { relative: shown(event.relative) }),
    ...(event.given === undefined ? {} : { given: shown(event.given) }),
    ...(event.argv === undefined ? {} : { argv: event.argv.map(shown) }),
  };
}

/** An edit for the screen: what would be written stays behind, its diff says it. */
export function projectEdit<E extends Omit<EventOf<"card_edited">, "seq" | "at">>(event: E): E {
  const { edited: _, ...rest } = event;
  return rest as E;
}

function shortArgs(
  args: Record<string, unknown>,
  short: (text: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      if (typeof value === "string") return [name, short(value)];
      const text = JSON.stringify(value) ?? "";
      return [name, text.length > VIEW_CHARS ? short(text) : value];
    }),
  );
}
