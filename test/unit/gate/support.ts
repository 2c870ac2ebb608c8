import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { AppendOptions, GateLedger } from "../../../src/core/gate/ports.js";
import type { PreparedRun, PreparedWrite } from "../../../src/core/gate/prepared.js";
import { sameAllow } from "../../../src/core/gate/requirement.js";
import type {
  Allow,
  EventBody,
  EventOf,
  EventType,
  SessionEvent,
} from "../../../src/core/session/events.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { readSnapshot } from "../../../src/core/workspace/read.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { ToolError, type Workspace } from "../../../src/core/workspace/types.js";

export const bytes = (text: string): Buffer => Buffer.from(text, "utf8");

/** A directory of its own for one test, and a workspace in it; `outside` is beside the root. */
export async function makeWorkspace(): Promise<{
  workspace: Workspace;
  root: string;
  outside: string;
  unsaved: Set<string>;
  remove: () => Promise<void>;
}> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "countersign-gate-")));
  const { mkdir } = await import("node:fs/promises");
  const root = join(base, "ws");
  const outside = join(base, "outside");
  await mkdir(root);
  await mkdir(outside);
  const unsaved = new Set<string>();
  const workspace: Workspace = {
    root,
    realRoot: root,
    ripgrep: async () => new ToolError("no ripgrep here"),
    env: process.env,
    unsaved: () => unsaved,
  };
  return {
    workspace,
    root,
    outside,
    unsaved,
    remove: () => rm(base, { recursive: true, maxRetries: 10, retryDelay: 50 }),
  };
}

/** A log in memory that takes a moment for each line, as a disk does. */
export class TestLedger implements GateLedger {
  readonly log: SessionEvent[] = [];
  /** What happened in order: each type of event (with `!` where flushed), and the allows. */
  readonly steps: string[] = [];
  readonly listeners = new Set<(event: SessionEvent) => void>();
  /** Set to make the next line of this type fail, as a full disk does. */
  failOn: EventType | undefined;
  #allows: Allow[] = [];
  #last: Promise<unknown> = Promise.resolve();

  append(event: EventBody, options: AppendOptions = {}): Promise<SessionEvent> {
    const written = this.#last.then(async () => {
      await setImmediate();
      if (this.failOn === event.type) throw new Error("ENOSPC: the disk is full");
      const line: SessionEvent = {
        ...structuredClone(event),
        seq: this.log.length + 1,
        at: "2026-01-01T00:00:00.000Z",
      };
      this.log.push(line);
      this.steps.push(`${event.type}${options.flush === true ? "!" : ""}`);
      options.appended?.(line);
      for (const listener of [...this.listeners]) listener(line);
      return line;
    });
    this.#last = written.catch(() => {});
    return written;
  }

  /** Bytes that were kept, by their digest. */
  readonly blobs = new Map<string, Uint8Array>();

  async keep(content: Uint8Array): Promise<string> {
    await setImmediate();
    const name = digest(content);
    this.blobs.set(name, Uint8Array.from(content));
    return name;
  }

  async kept(name: string): Promise<Uint8Array | undefined> {
    return this.blobs.get(name);
  }

  allows(): readonly Allow[] {
    return this.#allows;
  }

  async addAllow(allow: Allow): Promise<void> {
    await setImmediate();
    this.#allows = [...this.#allows, allow];
    this.steps.push("meta+");
  }

  async removeAllow(allow: Allow): Promise<void> {
    await setImmediate();
    this.#allows = this.#allows.filter((one) => !sameAllow(one, allow));
    this.steps.push("meta-");
  }

  ofType<T extends EventType>(type: T): EventOf<T>[] {
    return this.log.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The next event of a type that is not in the log yet. */
  next<T extends EventType>(type: T): Promise<EventOf<T>> {
    return new Promise((resolve) => {
      const listener = (event: SessionEvent): void => {
        if (event.type !== type) return;
        this.listeners.delete(listener);
        resolve(event as EventOf<T>);
      };
      this.listeners.add(listener);
    });
  }
}

/** Ids that read as `k1`, `k2`, …. */
export function ids(prefix = "k"): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}

/** A write as a tool would prepare it: whatever is on disk now gives way to `after`. */
export async function prepareWrite(
  workspace: Workspace,
  path: string,
  after: Uint8Array,
): Promise<PreparedWrite> {
  const resolved = await resolvePath(workspace, path);
  if (resolved.kind === "refused") throw new Error(resolved.reason);
  const before = await readSnapshot(workspace, resolved, 1 << 24);
  if (before instanceof ToolError) throw new Error(before.message);
  return { kind: "write", tool: "write_file", path: resolved, before, after };
}

export function prepareRun(argv: readonly string[], timeout = 120): PreparedRun {
  return { kind: "run", tool: "run", argv, timeout };
}
