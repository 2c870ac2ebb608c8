/**
 * `npm run build`: puts everything that runs into dist/.
 *   node esbuild.mjs [--watch] [--production] [--tests]
 * `--tests` builds dist-test/host.cjs instead: the suites that run inside the extension host.
 */
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import { thirdPartyNotices } from "./scripts/notices.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const flags = new Set(process.argv.slice(2));
const production = flags.has("--production");

/** zod brings its messages in forty languages; ours are in one. @type {import("esbuild").Plugin} */
const englishOnly = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, (file) => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: dirname(file.path),
    }));
  },
};

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  plugins: [englishOnly],
  minify: production,
  sourcemap: true,
  // Source maps name files, they do not carry them: the package stays small.
  sourcesContent: false,
  logLevel: flags.has("--watch") ? "info" : "warning",
  // All licences are in one file of their own.
  legalComments: "none",
  metafile: production,
};

/** CommonJS has no `import.meta.url`; this gives the bundle's own. @type {import("esbuild").BuildOptions} */
const commonJs = {
  ...common,
  platform: "node",
  format: "cjs",
  target: "node22",
  external: ["vscode", "@vscode/ripgrep"],
  define: { "import.meta.url": "__bundleUrl" },
  banner: { js: 'const __bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
};

/**
 * esbuild splits ES modules alone: each piece is made CommonJS here, in which `import()` is a late
 * `require`. So activation loads the shell, and the rest comes when it is needed.
 * @type {import("esbuild").Plugin}
 */
const commonJsPieces = {
  name: "commonjs-pieces",
  setup(build) {
    build.onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles) {
        const { code, map } = await esbuild.transform(text, {
          format: "cjs",
          platform: "node",
          target: "node22",
          supported: { "dynamic-import": false },
          minify: production,
          legalComments: common.legalComments,
          sourcemap: "external",
          sourcesContent: false,
          sourcefile: basename(path),
        });
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, `${code}//# sourceMappingURL=${basename(path)}.map\n`);
        await writeFile(`${path}.map`, map);
      }
    });
  },
};

/** @type {import("esbuild").BuildOptions[]} */
const product = [
  {
    ...common,
    entryPoints: { extension: "src/extension.ts" },
    outdir: "dist",
    platform: "node",
    format: "esm",
    target: "node22",
    external: ["vscode", "@vscode/ripgrep"],
    splitting: true,
    chunkNames: "extension/[name]-[hash]",
    outExtension: { ".js": ".cjs" },
    sourcemap: "inline",
    write: false,
    plugins: [englishOnly, commonJsPieces],
  },
  {
    ...common,
    entryPoints: { webview: "src/webview/main.tsx" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    // The page has a file of its own for the icons, see `copyIcons`.
    external: ["*.ttf"],
    define: { "process.env.NODE_ENV": production ? '"production"' : '"development"' },
  },
  {
    ...common,
    entryPoints: { acp: "src/acp.ts" },
    outdir: "dist",
    // What a start does not need lies apart, so that it is fast and small.
    splitting: true,
    chunkNames: "acp/[name]-[hash]",
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@vscode/ripgrep"],
    // Some dependencies are CommonJS and call `require`, which an ES module has not.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
    },
  },
];

/** The host suites, each loaded only when mocha's globals are there. */
async function hostTests() {
  const folder = join(root, "test/workbench/host");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".test.ts")).sort();
  if (names.length === 0) throw new Error(`no suites in ${folder}`);
  const loads = names.map((name) => `() => import(${JSON.stringify(`./${name}`)})`).join(", ");
  /** @type {import("esbuild").BuildOptions} */
  const options = {
    ...commonJs,
    stdin: {
      contents: `import { runSuites } from "./run.ts";\nexport const run = () => runSuites([${loads}]);`,
      resolveDir: folder,
      loader: "ts",
    },
    outfile: "dist-test/host.cjs",
    external: ["vscode", "mocha", "@vscode/ripgrep"],
    minify: false,
  };
  return options;
}

/** The webview may load files from dist/ alone, so the icons' font goes there. */
async function copyIcons() {
  await mkdir(join(root, "dist"), { recursive: true });
  for (const name of ["codicon.css", "codicon.ttf"]) {
    await cp(join(root, "node_modules/@vscode/codicons/dist", name), join(root, "dist", name));
  }
}

/** @param {readonly esbuild.Metafile[]} metafiles */
async function writeNotices(metafiles) {
  const text = await thirdPartyNotices(root, metafiles, ["@vscode/codicons"]);
  await writeFile(join(root, "dist/THIRD-PARTY-NOTICES.txt"), text);
}

const builds = flags.has("--tests") ? [await hostTests()] : product;
// What is packaged has no pieces of an earlier build in it.
if (production) await rm(join(root, "dist"), { recursive: true, force: true });
if (!flags.has("--tests")) await copyIcons();

if (flags.has("--watch")) {
  const contexts = await Promise.all(builds.map((build) => esbuild.context(build)));
  await Promise.all(contexts.map((context) => context.watch()));
} else {
  const ended = await Promise.allSettled(builds.map((build) => esbuild.build(build)));
  const built = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  // esbuild has printed its own errors by now.
  if (built.length < builds.length) process.exitCode = 1;
  else if (production) await writeNotices(built.flatMap(({ metafile }) => metafile ?? []));
}
