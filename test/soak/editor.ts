import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { FILES, marked } from "./files.js";
import type { Edit } from "./plan.js";
import { Random } from "./random.js";

/** Another program that changes the same files: saves, renames, deletes, swaps links. */
export class Editor {
  /** Names of what was in a folder when that was moved away, or back. */
  readonly carried = new Set<string>();
  #marks = 0;
  readonly #random: Random;
  constructor(
    private readonly base: string,
    seed: number,
    private readonly count: (what: string) => void,
  ) {
    this.#random = new Random("editor", seed);
  }

  /** The tree that a run begins with. */
  prepare(): void {
    const { base } = this;
    for (const path of ["home", "ws/files/sub", "ws/files/deep/x", "outside/sub"]) {
      mkdirSync(join(base, path), { recursive: true });
    }
    symlinkSync("sub", join(base, "ws/files/in"));
    symlinkSync("../../outside", join(base, "ws/files/out"));
    for (const file of FILES.slice(0, 6)) this.#save(join(base, "ws", file), false);
    for (const name of ["secret.txt", "sub/d.txt", "sub/e.txt"]) {
      writeFileSync(join(base, "outside", name), `outside ${name} [e0]\n`);
    }
  }

  /** Makes one edit. `full`: the disk may have no room, so nothing is written in place. */
  edit({ do: what, file: number }: Edit, full: boolean): void {
    const file = FILES[number % FILES.length] ?? FILES[0];
    try {
      this.#edit(what, join(this.base, "ws", file), full);
      this.count(`edit: ${what}`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The agent was there first, or the disk is full.
      if (code === undefined || !/^E(NOENT|EXIST|NOTDIR|NOSPC|ISDIR|NOTEMPTY|LOOP)$/.test(code))
        throw error;
    }
  }

  #edit(what: Edit["do"], path: string, full: boolean): void {
    const folder = join(this.base, "ws/files/sub");
    const away = `${folder}.away`;
    if (!realpathSync(dirname(path)).startsWith(realpathSync(join(this.base, "ws")))) {
      // Nothing of ours may be written outside.
      if (what === "restore") this.#restore(folder, away);
      return;
    }
    switch (what) {
      case "change":
      case "new":
        this.#save(path, full);
        return;
      case "delete":
        unlinkSync(path);
        return;
      case "rename":
        renameSync(path, join(this.base, "ws", this.#random.pick([FILES[0], FILES[1], FILES[2]])));
        return;
      case "mode":
        if (lstatSync(path).isFile())
          chmodSync(path, this.#random.pick([0o644, 0o755, 0o600, 0o444]));
        return;
      case "linkOut":
        if (lstatSync(folder).isSymbolicLink() || existsSync(away)) return;
        renameSync(folder, away);
        this.#carry(away);
        symlinkSync("../../outside/sub", folder);
        return;
      case "linkFile":
        rmSync(path, { force: true });
        symlinkSync(join(this.base, "outside/secret.txt"), path);
        return;
      case "linkIn":
        rmSync(path, { force: true });
        symlinkSync(basename(path) === "a.txt" ? "b.txt" : "a.txt", path);
        return;
      case "hardLink":
        linkSync(path, `${path}.${this.#mark().slice(1, -1)}`);
        return;
      case "pipe":
        this.#mark();
        // In one step, as the agent may write the file between two.
        this.#place(path, (temporary) => execFileSync("mkfifo", [temporary]));
        return;
      case "restore":
        this.#restore(folder, away);
        if (existsSync(path) && !lstatSync(path).isFile()) rmSync(path, { force: true });
        this.#save(path, full);
        return;
      default:
        what satisfies never;
    }
  }

  #restore(folder: string, away: string): void {
    if (!existsSync(away)) return;
    if (lstatSync(folder).isSymbolicLink()) unlinkSync(folder);
    this.#carry(away);
    renameSync(away, folder);
  }

  /** Remembers what lies in a folder that is moved: whoever looks for it where it was finds nothing. */
  #carry(folder: string): void {
    for (const name of readdirSync(folder)) this.carried.add(name);
  }

  #mark(): string {
    this.#marks += 1;
    return `[e${this.#marks}]`;
  }

  #save(path: string, full: boolean): void {
    const text = marked(this.#mark(), this.#random);
    const plain = existsSync(path) && lstatSync(path).isFile();
    // One write within a page: nobody sees a part of it.
    if (plain && !full && text.length < 1_000 && this.#random.chance(0.5)) {
      writeFileSync(path, text);
      return;
    }
    this.#place(path, (temporary) => writeFileSync(temporary, text));
  }

  /** Makes something beside `path` and puts it in its place. */
  #place(path: string, make: (temporary: string) => void): void {
    const temporary = join(this.base, `ws/files/.editor-${this.#marks}`);
    try {
      make(temporary);
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}
