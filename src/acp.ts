#!/usr/bin/env node
import { homedir } from "node:os";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { version } from "../package.json";
import { Agent } from "./acp/agent.js";
import { readAllows } from "./acp/allows.js";
import { adviceOf, readEnvironment } from "./acp/environment.js";
import { Models } from "./acp/models.js";
import { orOllama } from "./acp/ollama.js";
import { ripgrepFor } from "./acp/ripgrep.js";
import { SettingsFile } from "./acp/settings.js";
import { lingering, openStdin, takeStdout } from "./acp/stdio.js";
import { createCore } from "./core/core.js";
import { createClient } from "./core/model/index.js";
import { byNodeHttp } from "./core/model/nodeHttp.js";

async function main(): Promise<number> {
  const { output, failed } = takeStdout();
  const report = (message: string): void => {
    process.stderr.write(`countersign: ${message}\n`);
  };
  const environment = await orOllama(readEnvironment(process.env), process.env, report);
  const settings = new SettingsFile(environment.home, report);
  const models = new Models({
    environment,
    make: (setup) => createClient({ ...setup, advice: adviceOf(setup) }, byNodeHttp),
    settings: () => settings.get(),
  });
  const core = createCore({
    home: environment.home,
    userHome: homedir(),
    version,
    host: "ACP",
    ripgrep: () => ripgrepFor(settings.get().ripgrep, process.env),
    env: process.env,
    settings: () => ({ stopHooks: settings.get().stopHooks, trusted: true }),
    client: async (session) => models.client(session),
    unsaved: () => new Set(),
    report,
  });
  const agent = new Agent({
    core,
    models,
    version,
    admit: (root) => settings.check(root),
    allows: (root) => {
      const file = environment.allowsFile;
      return file === undefined ? [] : readAllows(file, root);
    },
    report,
  });

  const connection = agent.app().connect(lingering(ndJsonStream(output, openStdin())));
  const stop = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => resolve(0));
    }
    process.once("uncaughtException", (error) => {
      report(`a bug, please report it: ${error.stack ?? error}`);
      resolve(1);
    });
    process.once("unhandledRejection", (error) => {
      report(`a bug, please report it: ${error instanceof Error ? error.stack : error}`);
      resolve(1);
    });
    void connection.closed.then(() => resolve(0));
    void failed.then(() => resolve(0));
  });
  const code = await stop;
  await agent.dispose();
  await core.dispose();
  connection.close();
  return code;
}

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`countersign: ${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  },
);
