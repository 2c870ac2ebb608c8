/** What editors and hosts set for themselves; a command of the user's must not see it. */
const OWN = /^(?:ELECTRON_|VSCODE_|OPENAI_|ANTHROPIC_|COUNTERSIGN_)|^NODE_OPTIONS$/;

/** So that no command waits for a key in a pager or a prompt, or colours what a model reads. */
const QUIET = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  NO_COLOR: "1",
  TERM: "dumb",
} as const;

/**
 * The environment for commands: `env` less the editor's own variables, the agent's keys and
 * settings (`secrets` are further names), plus what keeps programs from asking. On Windows names
 * are compared without case, as it does.
 */
export function cleanEnvironment(
  env: NodeJS.ProcessEnv,
  secrets: readonly string[] = [],
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const plain = (name: string) => (platform === "win32" ? name.toUpperCase() : name);
  const taken = new Set([...secrets, ...Object.keys(QUIET)].map(plain));
  const kept = Object.entries(env).filter(
    ([name, value]) => value !== undefined && !OWN.test(plain(name)) && !taken.has(plain(name)),
  );
  return { ...Object.fromEntries(kept), ...QUIET };
}
