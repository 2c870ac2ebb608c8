import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The directory of a run: a small disk of its own where one may be mounted, so that it can be full. */
export class Disk {
  readonly base: string;
  readonly small: boolean;
  constructor(megabytes = 64) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "countersign-soak-")));
    let mounted = false;
    try {
      const options = `size=${megabytes}m,mode=700`;
      execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", this.base], {
        stdio: "ignore",
      });
      mounted = true;
    } catch {
      // Without the right to mount the disk is never full.
    }
    this.small = mounted;
  }

  fill(): void {
    if (!this.small) return;
    let size = 64 * 1024 * 1024;
    for (let part = 0; size >= 512; part++) {
      const path = join(this.base, `filler${part}`);
      try {
        writeFileSync(path, Buffer.alloc(size));
      } catch {
        rmSync(path, { force: true });
        size = Math.floor(size / 2);
      }
    }
  }

  free(): void {
    for (let part = 0; part < 64; part++) rmSync(join(this.base, `filler${part}`), { force: true });
  }

  remove(): void {
    if (this.small) execFileSync("umount", ["-l", this.base]);
    rmSync(this.base, { recursive: true, force: true });
  }
}
