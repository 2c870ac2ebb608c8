import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPLACED_BYTES } from "../../../src/core/limits.js";
import { Blobs } from "../../../src/core/session/blobs.js";
import { LogError } from "../../../src/core/session/log.js";

const ONE = Buffer.from("one\n");
const ONE_DIGEST = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";

describe("the bytes that a session keeps", () => {
  let session: string;
  let blobs: Blobs;
  beforeEach(async () => {
    session = await mkdtemp(join(tmpdir(), "countersign-blobs-"));
    blobs = new Blobs(session);
  });
  afterEach(async () => {
    await rm(session, { recursive: true, force: true });
  });

  it("lie under their digest, for their owner alone, and come back", async () => {
    assert.equal(await blobs.keep(ONE), ONE_DIGEST);
    const path = join(session, "blobs", ONE_DIGEST);
    assert.deepEqual(await readFile(path), ONE);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await stat(join(session, "blobs"))).mode & 0o777, 0o700);
    assert.deepEqual(await blobs.read(ONE_DIGEST), ONE);
  });

  it("are there once, however often and by however many at a time they are kept", async () => {
    await blobs.keep(ONE);
    const { ino } = await stat(join(session, "blobs", ONE_DIGEST));
    await Promise.all([blobs.keep(ONE), new Blobs(session).keep(ONE), blobs.keep(Buffer.alloc(0))]);
    assert.equal((await stat(join(session, "blobs", ONE_DIGEST))).ino, ino);
    assert.equal((await readdir(join(session, "blobs"))).length, 2);
  });

  it("are those that they were when they were kept, whatever becomes of the array", async () => {
    const bytes = Buffer.from(ONE);
    const kept = blobs.keep(bytes);
    bytes.fill(0);
    assert.equal(await kept, ONE_DIGEST);
    assert.deepEqual(await blobs.read(ONE_DIGEST), ONE);
  });

  it("are nothing where they were changed, and are kept anew", async () => {
    await blobs.keep(ONE);
    await writeFile(join(session, "blobs", ONE_DIGEST), "two\n");
    assert.equal(await blobs.read(ONE_DIGEST), undefined);
    await blobs.keep(ONE);
    assert.deepEqual(await blobs.read(ONE_DIGEST), ONE);
  });

  it("are not read through a link, from a directory, or by another name than a digest", async () => {
    await mkdir(join(session, "blobs"));
    await writeFile(join(session, "elsewhere"), ONE);
    await symlink(join(session, "elsewhere"), join(session, "blobs", ONE_DIGEST));
    assert.equal(await blobs.read(ONE_DIGEST), undefined);
    await rm(join(session, "blobs", ONE_DIGEST));
    await mkdir(join(session, "blobs", ONE_DIGEST));
    assert.equal(await blobs.read(ONE_DIGEST), undefined);
    for (const name of ["../elsewhere", "", ONE_DIGEST.toUpperCase(), "elsewhere"]) {
      assert.equal(await blobs.read(name), undefined);
    }
  });

  it("are read up to the size that a write may replace, and not beyond", async () => {
    const most = Buffer.alloc(REPLACED_BYTES, 1);
    assert.equal((await blobs.read(await blobs.keep(most)))?.length, REPLACED_BYTES);
    const more = Buffer.alloc(REPLACED_BYTES + 1, 1);
    assert.equal(await blobs.read(await blobs.keep(more)), undefined);
  });

  it("replace what a host that died had half written", async () => {
    await mkdir(join(session, "blobs"));
    await writeFile(join(session, "blobs", "keeping.tmp"), "on");
    await blobs.keep(ONE);
    assert.deepEqual(await readdir(join(session, "blobs")), [ONE_DIGEST]);
  });

  it("say what to do where they cannot be kept", async () => {
    await writeFile(join(session, "blobs"), "a file in the way");
    await assert.rejects(
      blobs.keep(ONE),
      (error) => error instanceof LogError && /^Not saved: .*blobs/.test(error.message),
    );
  });
});
