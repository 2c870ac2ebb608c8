import { existsSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { root } from "./process.js";

export interface Evidence {
  /** Pictured from the first on. */
  readonly pages?: readonly Page[];
  /** File name to content. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Name to a folder that is copied. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** Keeps screenshots and logs under `.vscode-test/failures/<title>`; gives that path. Never throws. */
export async function keepFailure(title: string, evidence: Evidence): Promise<string> {
  const name = title.replace(/[^\w.-]+/g, "-").slice(0, 120);
  const place = join(root, ".vscode-test/failures", name);
  const note = (error: unknown) => console.error(`could not keep a part: ${String(error)}`);
  await rm(place, { recursive: true, force: true }).catch(note);
  await mkdir(place, { recursive: true }).catch(note);
  for (const [index, page] of (evidence.pages ?? []).entries()) {
    const path = join(place, `page${index === 0 ? "" : `-${index + 1}`}.png`);
    await page.screenshot({ path, timeout: 10_000 }).catch(note);
  }
  for (const [file, text] of Object.entries(evidence.texts ?? {})) {
    await writeFile(join(place, file), text).catch(note);
  }
  for (const [folder, from] of Object.entries(evidence.folders ?? {})) {
    if (existsSync(from)) await cp(from, join(place, folder), { recursive: true }).catch(note);
  }
  return place;
}
