import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Models } from "./models.js";

/** What becomes of a card: the client is asked, or it is denied without asking. */
export type Mode = "ask" | "deny";

const MODES: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] =
  [
    {
      id: "ask",
      name: "Ask",
      description: "Every write, command and read outside the workspace asks first.",
    },
    {
      id: "deny",
      name: "Read only",
      description: "Whatever would ask is denied: the session only reads in its workspace.",
    },
  ];

/** The mode of that id, or undefined where there is none. */
export function modeOf(id: string): Mode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** The modes as `session/new` and its like tell them. */
export function modeState(current: Mode): SessionModeState {
  return { currentModeId: current, availableModes: [...MODES] };
}

/** The same choices, and the model, as config options. */
export function configOptions(session: string, mode: Mode, models: Models): SessionConfigOption[] {
  const options: SessionConfigOption[] = [
    {
      id: "mode",
      type: "select",
      name: "Cards",
      category: "mode",
      currentValue: mode,
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
  ];
  const model = models.of(session);
  if (model !== undefined) {
    options.push({
      id: "model",
      type: "select",
      name: "Model",
      category: "model",
      currentValue: model,
      options: models.all.map(({ id, name }) => ({ value: id, name })),
    });
  }
  return options;
}
