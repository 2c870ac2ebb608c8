import { execFile } from "node:child_process";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

class Special {
  constructor(
    readonly kind: "link" | "fifo" | "file",
    readonly text: string | Uint8Array = "",
    readonly mode?: number,
  ) {}
}

/** A symlink to `target`, which is written as it is given. */
export const link = (target: string) => new Special("link", target);
/** A named pipe. */
export const fifo = () => new Special("fifo");
/** A file with mode bits. */
export const file = (content: string | Uint8Array, mode: number) =>
  new Special("file", content, mode);

/** A tree of files: text or bytes are files, objects are directories. */
export interface Tree {
  readonly [name: string]: string | Uint8Array | Special | Tree;
}

/** Makes `tree` in the directory `at`. */
async function plant(at: string, tree: Tree): Promise<void> {
  for (const [name, node] of Object.entries(tree)) {
    const full = path.join(at, name);
    if (typeof node === "string" || node instanceof Uint8Array) await writeFile(full, node);
    else if (!(node instanceof Special)) {
      await mkdir(full, { recursive: true });
      await plant(full, node);
    } else if (node.kind === "link") await symlink(node.text as string, full);
    else if (node.kind === "fifo") await promisify(execFile)("mkfifo", [full]);
    else {
      await writeFile(full, node.text);
      await chmod(full, node.mode ?? 0o644);
    }
  }
}

/** What is in `at`, as an object: files as text, links as `-> target`, other things by their kind. */
export async function harvest(at: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of (await readdir(at)).sort()) {
    const full = path.join(at, name);
    const stats = await lstat(full);
    if (stats.isDirectory()) found[name] = await harvest(full);
    else if (stats.isSymbolicLink()) found[name] = `-> ${await readlink(full)}`;
    else if (stats.isFile()) found[name] = await readFile(full, "latin1");
    else found[name] = stats.isFIFO() ? "[fifo]" : "[other]";
  }
  return found;
}

export interface Planted {
  /** The temporary directory that holds all of it, real. */
  readonly base: string;
  at(...names: string[]): string;
  remove(): Promise<void>;
}

/** A tree in a new temporary directory. */
export async function plantTree(tree: Tree): Promise<Planted> {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), "countersign-")));
  await plant(base, tree);
  return {
    base,
    at: (...names) => path.join(base, ...names),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}
