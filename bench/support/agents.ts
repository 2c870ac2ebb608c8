import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { startScriptedModel } from "../../test/support/scriptedModel.js";

/** An agent that speaks the Agent Client Protocol, and how it is set up for a scripted model. */
export interface AgentUnderTest {
  readonly name: string;
  readonly argv: readonly string[];
  /** What goes into its environment, and the files of its home; `url` is the model's. */
  setUp(url: string, home: string): { env: NodeJS.ProcessEnv; files?: Record<string, string> };
  /** The call that reads a file of the workspace. */
  read(path: string, workspace: string): { tool: string; args: Record<string, unknown> };
}

/** What one run of an agent cost. */
export interface Costs {
  /** From the start of its process to the answer to `initialize`, in milliseconds. */
  readonly start: number;
  /** Between one request to the model and the next, in milliseconds, one for each read. */
  readonly steps: readonly number[];
  /** Those requests, as their bytes. */
  readonly requests: readonly string[];
  /** Resident memory of its whole process tree after the turn, in MiB. */
  readonly memory: number;
  /** Processor time of that tree for one read, in milliseconds. */
  readonly processor: number;
}

const TIMEOUT_MS = 90_000;

/** Starts `agent`, lets it read `reads` files in one turn, and measures. Rejects after 90 s. */
export async function measureAgent(agent: AgentUnderTest, reads: number): Promise<Costs> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "countersign-bench-")));
  const [home, workspace] = [join(dir, "home"), join(dir, "workspace")];
  await mkdir(home);
  await mkdir(workspace);
  const content = `${"some words ".repeat(400)}\n`;
  for (let n = 0; n < reads; n++) await writeFile(join(workspace, `file-${n}.txt`), content);
  const arrived: number[] = [];
  const requests: string[] = [];
  let child: ChildProcess | undefined;
  let atFirst = 0;
  const model = await startScriptedModel(async ({ body, raw }) => {
    // Titles and the like are asked for without tools: they are no step.
    if (!body.tools?.length) return { text: "Reading" };
    arrived.push(performance.now());
    const n = requests.push(raw) - 1;
    if (n === 0) atFirst = await processorTime(child?.pid ?? 0);
    if (n >= reads) return { text: "Read." };
    return { calls: [{ id: `call_${n}`, ...agent.read(`file-${n}.txt`, workspace) }] };
  });
  try {
    const { env, files = {} } = agent.setUp(model.url, home);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
    }
    const [program = "", ...args] = agent.argv;
    const began = performance.now();
    child = spawn(program, args, {
      cwd: workspace,
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error("no pipes");
    stdin.on("error", () => {});
    const connection = client({ name: "bench" })
      .onNotification(methods.client.session.update, () => {})
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        throw new Error(`asked for permission: ${JSON.stringify(params.toolCall)}`);
      })
      .connect(
        ndJsonStream(
          Writable.toWeb(stdin) as WritableStream<Uint8Array>,
          Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
        ),
      );
    const { agent: remote } = connection;
    const turn = async (): Promise<number> => {
      await remote.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {},
      });
      const start = performance.now() - began;
      const { sessionId } = await remote.request(methods.agent.session.new, {
        cwd: workspace,
        mcpServers: [],
      });
      const prompt = [{ type: "text" as const, text: "Read the files." }];
      await remote.request(methods.agent.session.prompt, { sessionId, prompt });
      return start;
    };
    const start = await within(turn(), `${agent.name} to read ${reads} files`);
    if (requests.length <= reads) throw new Error(`${agent.name} made ${requests.length} requests`);
    const pid = child.pid ?? 0;
    const processor = ((await processorTime(pid)) - atFirst) / reads;
    const memory = await residentMemory(pid);
    connection.close();
    return { start, steps: gaps(arrived).slice(0, reads), requests, memory, processor };
  } finally {
    for (const pid of child?.pid === undefined ? [] : await tree(child.pid)) end(pid);
    await model.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function within<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((at, n) => at - (times[n] ?? at));
}

/** A process and all of its descendants; on Linux alone, elsewhere the process itself. */
async function tree(root: number): Promise<number[]> {
  if (process.platform !== "linux") return [root];
  const children = new Map<number, number[]>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = await statOf(Number(name));
    const parent = Number(fields?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** The fields of `/proc/<pid>/stat` after the program's name: state, parent, … */
async function statOf(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text === "" ? undefined : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Processor time of a process tree so far, in milliseconds; Linux counts in steps of 10. */
async function processorTime(root: number): Promise<number> {
  let ticks = 0;
  for (const pid of await tree(root)) {
    const fields = await statOf(pid);
    ticks += Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  }
  return ticks * 10;
}

async function residentMemory(root: number): Promise<number> {
  let kib = 0;
  for (const pid of await tree(root)) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    kib += Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
  }
  return kib / 1024;
}
