import { lstat, readlink, realpath } from "node:fs/promises";
import { codeOf } from "./faults.js";
import { isWithin, partsOf, pathsOf, refuseName } from "./names.js";
import { decodeUtf8, showName } from "./show.js";
import type { ResolvedPath, Workspace } from "./types.js";

/** Links on one path, as the kernel counts them. */
const MOST_LINKS = 40;

type Roots = Pick<Workspace, "root" | "realRoot">;

/** Where a walk through every link ended. */
interface Walk {
  /** The part that is there, after every link. */
  readonly existing: string;
  /** The parts that are not there yet. */
  readonly missing: readonly string[];
  /** The last step that left `within`: a link or `..`, and where it is. */
  readonly left: string | undefined;
  /** Why the walk could not go on (a loop, a target that is no UTF-8), or undefined. */
  readonly stuck: string | undefined;
}

/** Undefined where there is nothing, or where the file system does not let us look. */
async function linkTarget(file: string): Promise<{ target: Buffer | undefined } | undefined> {
  try {
    const stats = await lstat(file);
    if (!stats.isSymbolicLink()) return { target: undefined };
    return { target: await readlink(file, { encoding: "buffer" }) };
  } catch (error) {
    if (codeOf(error) === "") throw error;
    return undefined;
  }
}

/** One walk from `start`, a real directory, along `parts`, as the kernel would go. */
async function walk(
  start: string,
  parts: readonly string[],
  within: string,
  platform: NodeJS.Platform,
): Promise<Walk> {
  const { join, dirname, isAbsolute, parse } = pathsOf(platform);
  /** What is still to be gone, the next part last, each with the link it came from. */
  const ahead = [...parts]
    .reverse()
    .map((part) => ({ part, link: undefined as string | undefined }));
  const missing: string[] = [];
  let at = start;
  let left: string | undefined;
  let links = 0;

  const go = (to: string, by: string) => {
    if (!isWithin(within, to, platform)) {
      if (isWithin(within, at, platform)) left = by;
    } else {
      left = undefined;
    }
    at = to;
  };

  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { part, link } = next;
    if (part === "..") {
      // Below something that is not there, ".." can only be taken by its spelling.
      if (missing.length > 0) missing.pop();
      else go(dirname(at), link ?? 'the ".." in it');
      continue;
    }
    if (missing.length > 0) {
      missing.push(part);
      continue;
    }
    const here = join(at, part);
    const found = await linkTarget(here);
    if (found === undefined) {
      missing.push(part);
      continue;
    }
    const name = link ?? `the link ${showName(here)}`;
    if (found.target === undefined) {
      go(here, name);
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) {
      const rest = ahead.map((step) => step.part).reverse();
      return { existing: at, missing: [part, ...rest], left, stuck: `${name} leads in a circle` };
    }
    const target = decodeUtf8(found.target);
    if (target === null) {
      return {
        existing: at,
        missing: [part],
        left,
        stuck: `${name} points to a name that is no UTF-8`,
      };
    }
    if (isAbsolute(target)) go(parse(target).root || parse(at).root, name);
    const steps = partsOf(
      isAbsolute(target) ? target.slice(parse(target).root.length) : target,
      platform,
    );
    for (const step of steps.reverse()) ahead.push({ part: step, link: name });
  }
  return { existing: at, missing, left, stuck: undefined };
}

/** How many leading parts of an absolute path name the workspace's root, or 0. */
async function rootParts(
  roots: Roots,
  parts: readonly string[],
  platform: NodeJS.Platform,
): Promise<number> {
  const { parse, join } = pathsOf(platform);
  for (const root of [roots.root, roots.realRoot]) {
    const drive = parse(root).root;
    const own = partsOf(root.slice(drive.length), platform);
    if (own.length > parts.length) continue;
    const head = parts.slice(0, own.length);
    if (own.every((part, index) => part === head[index])) return own.length;
    // On a disk that ignores case the same directory has other spellings: the disk is asked.
    if (head.join("/").toLowerCase() !== own.join("/").toLowerCase()) continue;
    const real = await realpath(join(drive, ...head)).catch(() => undefined);
    if (real !== undefined && real === roots.realRoot) return own.length;
  }
  return 0;
}

/** The true spelling of what is there: on a disk that ignores case, `SRC` and `src` are one path. */
async function spelled(existing: string): Promise<string | undefined> {
  try {
    const bytes = await realpathNative(existing);
    return decodeUtf8(bytes) ?? undefined;
  } catch (error) {
    if (codeOf(error) === "") throw error;
    return existing;
  }
}

function realpathNative(file: string): Promise<Buffer> {
  return realpath(file, { encoding: "buffer" });
}

/**
 * Whether everything along `parts` is there, goes through no link and is spelled as on the disk:
 * then a walk would come to the same, in a question to the disk for every part.
 */
async function isDirect(start: string, parts: readonly string[]): Promise<boolean> {
  if (parts.includes("..")) return false;
  const path = pathsOf(process.platform).join(start, ...parts);
  try {
    return (await realpathNative(path)).equals(Buffer.from(path));
  } catch (error) {
    if (codeOf(error) === "") throw error;
    return false;
  }
}

/** Characters of a path that a refusal names. */
const NAMED_CHARS = 1_000;

function refused(given: string, reason: string): ResolvedPath {
  const name = showName(given.slice(0, NAMED_CHARS)) + (given.length > NAMED_CHARS ? "..." : "");
  return { kind: "refused", given, reason: `The path ${name} is refused: ${reason}.` };
}

/**
 * Where a path of a call lands: inside the workspace, outside it (a deliberate reach by an
 * absolute path), or refused with a reason for the model. Reads nothing but directories and
 * links. A path is only good for as long as nothing moves: whoever acts on it checks again.
 */
export async function resolvePath(
  workspace: Roots,
  given: string,
  platform: NodeJS.Platform = process.platform,
): Promise<ResolvedPath> {
  const paths = pathsOf(platform);
  const spelling = refuseName(given, platform);
  if (spelling !== undefined) return refused(given, spelling);

  const { realRoot } = workspace;
  const absolute = paths.isAbsolute(given);
  // Windows itself takes ".." by the spelling; elsewhere it is a step on the disk.
  const lexical = platform === "win32" ? paths.normalize(given) : given;
  const drive = absolute ? paths.parse(paths.resolve(realRoot, lexical)).root : "";
  const parts = partsOf(
    absolute ? lexical.slice(paths.parse(lexical).root.length) : lexical,
    platform,
  );
  const own = absolute ? await rootParts(workspace, parts, platform) : 0;
  const normal = absolute ? paths.normalize(given) : "";
  const meantInside =
    !absolute ||
    own > 0 ||
    isWithin(workspace.root, normal, platform) ||
    isWithin(realRoot, normal, platform);

  const fromRoot = !absolute || own > 0;
  const start = fromRoot ? realRoot : drive;
  const ahead = parts.slice(own);
  const direct = platform === process.platform && (await isDirect(start, ahead));
  const walked = direct
    ? { existing: paths.join(start, ...ahead), missing: [], left: undefined, stuck: undefined }
    : await walk(start, ahead, realRoot, platform);
  const existing = direct ? walked.existing : await spelled(walked.existing);
  if (existing === undefined) return refused(given, "it leads through a name that is no UTF-8");
  const real = paths.join(existing, ...walked.missing);

  if (isWithin(realRoot, real, platform)) {
    if (walked.stuck !== undefined) return refused(given, walked.stuck);
    const relative = paths.relative(realRoot, real).split(paths.sep).join("/");
    return { kind: "inside", given, real, relative: relative === "" ? "." : relative };
  }
  if (!meantInside) return { kind: "outside", given, real };
  const by = walked.left ?? "a link in it";
  return refused(
    given,
    `${by} leads out of the workspace. Name a path inside, or the absolute path of what is outside`,
  );
}
