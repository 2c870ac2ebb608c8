/** What the suites of the panel share: a workbench with a scripted model, and how to ask in it. */
import type { Frame, Locator } from "playwright-core";
import {
  type ScriptedAnswer,
  type ScriptedModel,
  startScriptedModel,
} from "../../support/scriptedModel.js";
import { startWorkbench, until, type Workbench, type WorkbenchOptions } from "../harness.js";

export interface Panel {
  readonly bench: Workbench;
  readonly model: ScriptedModel;
  /** The chat's frame, found anew: it is another one after the view was away. */
  chat(): Promise<Frame>;
  composer(): Promise<Locator>;
  /** Shows an empty session and waits until the chat shows it. */
  newSession(): Promise<Frame>;
  /** Types an ask into the composer and sends it once that can be; the model will give `answers`. */
  ask(text: string, ...answers: ScriptedAnswer[]): Promise<Frame>;
  /** The open card that names `what`, once its buttons can be pressed. */
  card(what: string): Promise<Locator>;
  stop(): Promise<void>;
}

/** Starts both; the model's answers come with each `ask`. */
export async function startPanel(options: WorkbenchOptions = {}): Promise<Panel> {
  const model = await startScriptedModel([]);
  const bench = await startWorkbench({
    ...options,
    settings: {
      "countersign.models.selected": "openai",
      "countersign.models.openai.baseUrl": model.url,
      "countersign.models.openai.model": "scripted",
      ...options.settings,
    },
  });
  const chat = () => bench.frame('[role="log"]');
  const composer = async () => (await chat()).getByRole("textbox", { name: "Message" });
  const panel: Panel = {
    bench,
    model,
    chat,
    composer,
    async newSession() {
      await bench.command("Countersign: New Session");
      const frame = await chat();
      await frame.getByRole("heading", { name: "New session", level: 1 }).waitFor();
      return frame;
    },
    async ask(text, ...answers) {
      model.push(...answers);
      const field = await composer();
      await field.fill(text);
      const frame = await chat();
      // A page that still shows a card which is answered by now would keep the ask.
      await until("the composer to send", () =>
        frame.getByRole("button", { name: "Send", exact: true }).isEnabled(),
      );
      await field.press("Enter");
      return frame;
    },
    async card(what) {
      const frame = await chat();
      const card = frame.getByRole("group", { name: /^Permission: / }).filter({ hasText: what });
      await card.first().waitFor();
      await until(`the buttons of the card for ${what}`, () =>
        card.getByRole("button", { name: "Approve", exact: true }).isEnabled(),
      );
      return card;
    },
    async stop() {
      await bench.stop();
      await model.close();
    },
  };
  return panel;
}

/** An answer that proposes to write `content` to `path`. */
export function write(path: string, content: string, more: ScriptedAnswer = {}): ScriptedAnswer {
  return { ...more, calls: [{ tool: "write_file", args: { path, content } }] };
}

/** An answer that wants to run `argv`. */
export function run(...argv: string[]): ScriptedAnswer {
  return { calls: [{ tool: "run", args: { argv } }] };
}

/** An answer that ends the turn. */
export function finish(result: string): ScriptedAnswer {
  return { calls: [{ tool: "finish", args: { result } }] };
}
