import { LogError } from "./session/log.js";
import type { SessionRecord } from "./session/record.js";
import { SessionStore } from "./session/store.js";
import { verifySession } from "./session/verify.js";
import { findTool, parseArgs, toolSpecs } from "./tools/index.js";
import type { Core, CoreOptions, LiveSession, LogVerdict, SessionToRead } from "./turn/live.js";
import { PromptSource } from "./turn/promptSource.js";
import { Runner } from "./turn/runner.js";
import { Sharing } from "./turn/sharing.js";
import { cleanEnvironment } from "./workspace/environment.js";
import { spawnBounded } from "./workspace/spawn.js";
import type { Workspace } from "./workspace/types.js";
import { openWorkspace } from "./workspace/workspace.js";

/** How long a program of the system's may take to tell about a process, in milliseconds. */
const ASK_SYSTEM_MS = 10_000;

const toolSet = { findTool, parseArgs };

/** The core behind a host: everything is wired here, once. */
export function createCore(options: CoreOptions): Core {
  return new Sessions(options);
}

class Sessions implements Core {
  readonly #options: CoreOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #store: SessionStore;
  readonly #specs = toolSpecs();
  readonly #sharing = new Sharing();
  /** Sessions that are open, or on their way. */
  readonly #open = new Map<string, Promise<Runner>>();

  constructor(options: CoreOptions) {
    this.#options = options;
    this.#env = cleanEnvironment(options.env);
    const { host, version, report } = options;
    this.#store = new SessionStore(options.home, {
      host,
      version,
      report,
      ask: (argv) => this.#askSystem(argv),
    });
  }

  listSessions() {
    return this.#store.list();
  }

  async newSession(
    root: string,
    { allows = [] }: Parameters<Core["newSession"]>[1] = {},
  ): Promise<LiveSession> {
    // A folder that cannot be opened is no session.
    const workspace = await this.#workspace(root);
    const record = await this.#store.create(workspace.root, allows);
    const runner = this.#runner(record, workspace, undefined);
    this.#open.set(record.id, Promise.resolve(runner));
    return runner;
  }

  openSession(id: string): Promise<LiveSession> {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opening = this.#reopen(id);
    this.#open.set(id, opening);
    opening.catch(() => this.#open.delete(id));
    return opening;
  }

  async renameSession(id: string, title: string): Promise<void> {
    const open = await this.#open.get(id);
    if (open !== undefined) {
      await open.rename(title);
      return;
    }
    const record = await this.#store.open(id);
    try {
      if (record.readOnly !== undefined) throw new LogError(record.readOnly);
      await record.rename(title);
    } finally {
      await record.close();
    }
  }

  sessionDirectory(id: string): Promise<string> {
    return this.#store.directoryOf(id);
  }

  async readSession(id: string): Promise<SessionToRead> {
    const open = await this.#open.get(id);
    return open ?? { id, ...(await this.#store.read(id)) };
  }

  async verifyLog(id: string): Promise<LogVerdict> {
    return verifySession(await this.#store.directoryOf(id));
  }

  async releaseSession(id: string): Promise<string> {
    const directory = await this.#store.directoryOf(id);
    const open = await this.#open.get(id);
    await open?.close();
    return directory;
  }

  filesChanged(paths: readonly string[]): void {
    for (const opening of this.#open.values()) {
      opening.then(
        (runner) => runner.filesChanged(paths),
        () => {},
      );
    }
  }

  async dispose(): Promise<void> {
    const all = await Promise.allSettled([...this.#open.values()]);
    await Promise.allSettled(
      all.map((one) => (one.status === "fulfilled" ? one.value.close() : undefined)),
    );
  }

  async #reopen(id: string): Promise<Runner> {
    const record = await this.#store.open(id);
    let { readOnly } = record;
    let workspace: Workspace | undefined;
    try {
      workspace = await this.#workspace(record.facts.workspace ?? record.meta.workspace);
    } catch (error) {
      readOnly ??= (error as Error).message;
    }
    const runner = this.#runner(record, workspace, readOnly);
    await runner.recover();
    return runner;
  }

  #runner(
    record: SessionRecord,
    workspace: Workspace | undefined,
    readOnly: string | undefined,
  ): Runner {
    const { settings, client, report, userHome, trash } = this.#options;
    const trusted = (): boolean => settings().trusted;
    const started = record.meta.created;
    return new Runner({
      record,
      workspace,
      prompt: workspace && new PromptSource({ workspace, userHome, started, trusted, report }),
      readOnly,
      sharing: this.#sharing,
      toolSet,
      toolSpecs: this.#specs,
      settings,
      client: () => client(record.id),
      report,
      trash,
      changed: (paths) => this.filesChanged(paths),
      closed: () => this.#open.delete(record.id),
    });
  }

  #workspace(root: string): Promise<Workspace> {
    const { ripgrep, unsaved } = this.#options;
    return openWorkspace({ root, ripgrep, unsaved, env: this.#env });
  }

  async #askSystem(argv: readonly string[]): Promise<string> {
    const exit = await spawnBounded({
      argv,
      cwd: this.#options.home,
      env: { ...this.#env, LC_ALL: "C", TZ: "UTC" },
      timeoutMs: ASK_SYSTEM_MS,
      maxBytesPerStream: 4096,
      signal: new AbortController().signal,
    });
    return exit.kind === "exited" && exit.code === 0 ? exit.stdout : "";
  }
}
