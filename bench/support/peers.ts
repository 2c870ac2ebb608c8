import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/process.js";
import type { AgentUnderTest } from "./agents.js";

/** Whose work is measured beside ours: installed by `npm run bench -- --peers`, half a gigabyte. */
const PACKAGES = {
  "opencode-ai": "1.18.33",
  "@qwen-code/qwen-code": "0.24.4",
  "write-file-atomic": "8.0.0",
} as const;
type Package = keyof typeof PACKAGES;

const folder = join(root, "bench/peers");
export const packageFolder = (name: Package): string => join(folder, "node_modules", name);

/** The version that is installed, or undefined. */
export async function installed(name: Package): Promise<string | undefined> {
  const file = join(packageFolder(name), "package.json");
  if (!existsSync(file)) return undefined;
  return String((JSON.parse(await readFile(file, "utf8")) as { version?: unknown }).version);
}

/** Installs the peers into the ignored `bench/peers`. Throws where npm fails. */
export async function installPeers(): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", ...wanted], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("npm could not install the peers");
}

/** Ourselves as we are packaged. */
export const countersign: AgentUnderTest = {
  name: "countersign",
  argv: [process.execPath, join(root, "dist/acp.js")],
  setUp: (url, home) => ({
    env: {
      COUNTERSIGN_HOME: join(home, "countersign"),
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: "sk-bench",
      OPENAI_MODEL: "scripted",
    },
  }),
  read: (path) => ({ tool: "read_file", args: { path } }),
};

/** The agents that are installed. */
export async function peerAgents(): Promise<readonly AgentUnderTest[]> {
  const found: AgentUnderTest[] = [];
  const opencode = await installed("opencode-ai");
  if (opencode !== undefined) {
    found.push({
      name: `opencode ${opencode}`,
      argv: [join(folder, "node_modules/.bin/opencode"), "acp"],
      setUp: (url) => ({
        env: {
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_CONFIG_CONTENT: JSON.stringify({
            model: "scripted/scripted",
            small_model: "scripted/scripted",
            share: "disabled",
            provider: {
              scripted: {
                npm: "@ai-sdk/openai-compatible",
                options: { baseURL: url, apiKey: "sk-bench" },
                models: { scripted: { name: "scripted" } },
              },
            },
          }),
        },
      }),
      read: (path, workspace) => ({ tool: "read", args: { filePath: join(workspace, path) } }),
    });
  }
  const qwen = await installed("@qwen-code/qwen-code");
  if (qwen !== undefined) {
    found.push({
      name: `qwen ${qwen}`,
      argv: [process.execPath, join(folder, "node_modules/.bin/qwen"), "--acp"],
      setUp: (url) => ({
        env: { OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-bench", OPENAI_MODEL: "scripted" },
        files: {
          ".qwen/settings.json": JSON.stringify({
            security: { auth: { selectedType: "openai" } },
            privacy: { usageStatisticsEnabled: false },
            general: { disableAutoUpdate: true },
          }),
        },
      }),
      read: (path, workspace) => ({
        tool: "read_file",
        args: { file_path: join(workspace, path) },
      }),
    });
  }
  return found;
}
