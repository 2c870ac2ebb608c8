import * as path from "node:path";
import * as vscode from "vscode";
import type { Status } from "../webview/protocol.js";
import { folders } from "./folders.js";
import type { ModelService } from "./models/service.js";
import type { Opened } from "./sessions.js";

/** What the panel shows beside the events. */
export function statusOf(opened: Opened | undefined, models: ModelService): Status {
  const current = models.current();
  return {
    folders: folders().length,
    trusted: vscode.workspace.isTrusted,
    model: { label: current.label, demo: current.provider === "demo" },
    session: opened
      ? {
          id: opened.live.id,
          title: opened.live.title,
          folder: path.basename(opened.workspace),
          state: opened.live.state,
          readOnly: opened.live.readOnly ?? null,
          trouble: opened.live.trouble ?? null,
          damage: opened.live.damage.map(({ after, reason }) => ({ after, reason })).slice(0, 100),
          queue: opened.live.queue.map(({ ask, text }) => ({ ask, text: text.slice(0, 1_000) })),
          cards: opened.live.openCards.map(({ card }) => card),
          question: opened.live.openQuestion?.question ?? null,
          allows: opened.live.allows.length,
          since: opened.tracker.since,
          tokens: { ...opened.tracker.tokens },
        }
      : null,
  };
}
