/**
 * The licences of what is bundled: whoever gets the package gets them with it, as they ask.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The text of `dist/THIRD-PARTY-NOTICES.txt`: every package of which the bundles hold a file, and
 * `more` that are copied as they are. Throws where a package names no licence.
 * @param {string} root
 * @param {readonly import("esbuild").Metafile[]} metafiles
 * @param {readonly string[]} more names of packages
 * @returns {Promise<string>}
 */
export async function thirdPartyNotices(root, metafiles, more) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [path] : [],
      ),
    ),
  );
  const folders = new Set(more.map((name) => `node_modules/${name}`));
  for (const path of inputs) {
    const folder = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path.replaceAll("\\", "/"))?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const parts = await Promise.all([...folders].sort().map((folder) => notice(join(root, folder))));
  return `Countersign holds parts of these packages, under their licences.\n\n${parts.join("\n")}`;
}

/** @param {string} folder */
async function notice(folder) {
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  if (typeof license !== "string") throw new Error(`${name} names no licence`);
  const names = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort();
  const texts = await Promise.all(names.map((file) => readFile(join(folder, file), "utf8")));
  const rule = "-".repeat(78);
  return [
    rule,
    `${name} ${version}: ${license}`,
    ...texts.map((text) => `\n${text.trim()}`),
    "",
  ].join("\n");
}
