/** The panel's page as it was built, in a browser of its own: no VS Code, no host but the test. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { root } from "../../scripts/process.js";
import { CHROMIUM_ARGS, chromiumPath } from "../../scripts/vscode/chromium.js";
import type { Status, ToPanel, ViewEvent } from "../../src/webview/protocol.js";
import { AT_REST } from "./status.js";

export interface PanelPage {
  readonly page: Page;
  /** Sends what a host would. */
  post(message: ToPanel): Promise<void>;
  /** The longest task of the page since it was asked last, in milliseconds; 0 where none took 50. */
  longestTask(): Promise<number>;
  close(): Promise<void>;
}

/** Needs the build. The page has the policy that VS Code's has, without its nonce. */
export async function openPanelPage(): Promise<PanelPage> {
  const browser = await chromium.launch({
    executablePath: await chromiumPath(),
    args: [...CHROMIUM_ARGS],
  });
  const page = await browser.newPage({ viewport: { width: 400, height: 800 } });
  const file = (name: string) => readFile(join(root, "dist", name), "utf8");
  const bodies: Readonly<Record<string, { type: string; body: string }>> = {
    "/": {
      type: "text/html",
      body: `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'">
<link rel="stylesheet" href="/webview.css"></head>
<body><div id="root"></div><script src="/webview.js"></script></body></html>`,
    },
    "/webview.js": { type: "text/javascript", body: await file("webview.js") },
    "/webview.css": { type: "text/css", body: await file("webview.css") },
  };
  await page.route("**/*", (route) => {
    const found = bodies[new URL(route.request().url()).pathname];
    return found === undefined
      ? route.abort()
      : route.fulfill({ contentType: found.type, body: found.body });
  });
  await page.addInitScript(`{
    const posted = [];
    Object.assign(window, {
      posted,
      longest: 0,
      acquireVsCodeApi: () => ({
        postMessage: (message) => posted.push(message),
        getState: () => undefined,
        setState: () => {},
      }),
    });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        window.longest = Math.max(window.longest, duration);
    }).observe({ type: "longtask" });
  }`);
  await page.goto("http://panel.test/");
  return {
    page,
    post: async (message) => {
      // To bring it into the page is the test's work, not the page's: what it took does not count.
      await page.evaluate(`{
        const message = ${JSON.stringify(message)};
        window.sendIt = () => window.postMessage(message, "*");
      }`);
      await page.evaluate(`new Promise((resolve) => setTimeout(() => {
        window.longest = 0;
        resolve();
      }, 100))`);
      await page.evaluate(`new Promise((resolve) => {
        window.sendIt();
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))));
      })`);
    },
    longestTask: () =>
      page.evaluate<number>(`new Promise((resolve) => setTimeout(() => {
        const { longest } = window;
        window.longest = 0;
        resolve(longest);
      }, 100))`),
    close: () => browser.close(),
  };
}

const AT = "2026-03-04T05:06:07.000Z";

/** `count` events of turns that each read, write and say something, from number `first`. */
export function manyEvents(count: number, first = 1): ViewEvent[] {
  const turn: readonly ((n: number) => Record<string, unknown>)[] = [
    (n) => ({ type: "turn_started", text: `Do thing ${n}`, model: "m" }),
    (n) => ({
      type: "model_answered",
      text: `## Step ${n}\n\nI read \`file${n}.ts\` and **then** change it:\n\n- one\n- two\n\n\`\`\`ts\nconst a = ${n};\n\`\`\``,
      calls: [{ call: `r${n}`, tool: "read_file", args: { path: `file${n}.ts` } }],
    }),
    (n) => ({ type: "call_ended", call: `r${n - 1}`, ok: true, result: "text\n".repeat(50) }),
    (n) => ({
      type: "model_answered",
      text: "",
      calls: [{ call: `w${n}`, tool: "write_file", args: { path: "a.ts", content: "x" } }],
    }),
    (n) => ({
      type: "card_raised",
      card: `k${n}`,
      call: `w${n - 1}`,
      tool: "write_file",
      kind: "write",
      path: "/w/a.ts",
      relative: "a.ts",
      digest: null,
      diff: `@@ -0,0 +1,20 @@\n${"+const line = 1;\n".repeat(20)}`,
      added: 20,
      removed: 0,
      bytesBefore: null,
      bytesAfter: 320,
    }),
    (n) => ({ type: "card_answered", card: `k${n - 1}`, answer: "allow_once", surface: "chat" }),
    (n) => ({ type: "call_started", call: `w${n - 3}`, by: "user" }),
    (n) => ({ type: "call_ended", call: `w${n - 4}`, ok: true, result: "Written." }),
    (n) => ({ type: "result", text: `Thing ${n} is **done**.` }),
    () => ({ type: "turn_ended", reason: "finished" }),
  ];
  return Array.from({ length: count }, (_, index) => {
    const seq = first + index;
    const make = turn[(seq - 1) % turn.length] ?? (() => ({}));
    return { ...make(seq), turn: "t", seq, at: AT } as unknown as ViewEvent;
  });
}

/** A session in which a turn runs. */
function runningStatus(): Status {
  return {
    folders: 1,
    trusted: true,
    model: { label: "m", demo: false },
    session: {
      ...AT_REST,
      title: "Many things",
      state: "running",
      since: AT,
      tokens: { input: 1, output: 1, cached: 0, estimated: false },
    },
  };
}

/** A snapshot of the last thousand of `all` events, as a host sends it. */
export function snapshotOf(events: ViewEvent[], earlier: number): ToPanel {
  return {
    type: "snapshot",
    texts: {},
    drafts: {},
    status: runningStatus(),
    events,
    earlier,
    deltas: [],
  };
}

/**
 * Streams `text` as a host does at 200 deltas a second: one batch every 30 ms, of six deltas that
 * are one by then. Resolves when all of it was sent. `n` is the number of the first batch.
 */
export function streamInto(page: Page, text: string, n = 1): Promise<void> {
  return page.evaluate(`new Promise((resolve) => {
    const text = ${JSON.stringify(text)};
    let at = 0;
    let n = ${n};
    const timer = setInterval(() => {
      if (at >= text.length) {
        clearInterval(timer);
        resolve();
        return;
      }
      const delta = { type: "text", text: text.slice(at, at + 24) };
      at += 24;
      window.postMessage({ type: "batch", n: n++, parts: [{ delta }] }, "*");
    }, 30);
  })`);
}
