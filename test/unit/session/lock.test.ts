import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { unlinkSync, watch } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describeHolder, type Holder, takeLock } from "../../../src/core/session/lock.js";
import { ownIdentity, processStarted } from "../../../src/core/session/process.js";
import { SessionRecord } from "../../../src/core/session/record.js";
import { asks, makePlace, makeSession, opener, type Place } from "./support.js";

const ask = async (): Promise<string> => "";
const who = { host: "VS Code", version: "1.0.0", workspace: "/home/me/project" };

/** Another process that holds the session until it is told to go. */
const HOLDER = `
  import { SessionRecord } from ${JSON.stringify(new URL("../../../src/core/session/record.ts", import.meta.url).href)};
  const opener = { host: "Other", version: "1", report: () => {}, ask: async () => "" };
  const record = await SessionRecord.open(process.argv[1], opener);
  console.log(record.readOnly ?? "open");
  process.stdin.resume();
  process.stdin.on("end", async () => { await record.close(); process.exit(0); });
`;

async function holder(directory: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", HOLDER, directory],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  assert.ok(child.stdout);
  const [said] = await once(child.stdout, "data");
  return { child, said: String(said).trim() };
}

describe("the lock of a session", () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace();
    await makeSession(place, asks("one"));
  });
  afterEach(() => place.dispose());

  const leave = async (change: Partial<Holder>, name = "lock.00000000000000aa"): Promise<void> => {
    const holds: Holder = {
      ...(await ownIdentity(ask)),
      ...who,
      machine: hostname(),
      since: "2026-01-01T10:20:30.000Z",
      ...change,
    };
    await writeFile(join(place.directory, name), JSON.stringify(holds));
  };
  const locks = async (): Promise<string[]> =>
    (await readdir(place.directory)).filter((name) => name.startsWith("lock."));

  it("is made again where the holder before took its half for one of a dead process", async () => {
    const { directory } = place;
    let taken = 0;
    const sweeper = watch(directory, (_, name) => {
      if (name?.endsWith(".tmp") !== true || taken >= 3) return;
      try {
        unlinkSync(join(directory, name));
        taken++;
      } catch {
        // It has its own name already.
      }
    });
    try {
      for (let round = 0; round < 200 && taken < 3; round++) {
        const outcome = await takeLock(directory, who, ask);
        assert.ok(outcome.kind === "locked");
        await outcome.lock.release();
      }
    } finally {
      sweeper.close();
    }
    assert.equal(taken, 3);
  });

  it("is one file that is gone when it is let go", async () => {
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "locked");
    assert.equal((await locks()).length, 1);
    await outcome.lock.release();
    assert.deepEqual(await locks(), []);
  });

  it("says which window has the session", async () => {
    await leave({});
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "held");
    assert.equal(
      describeHolder(outcome.by, outcome.path),
      `VS Code with /home/me/project (process ${process.pid}, since 2026-01-01 10:20 UTC) has this session open; here it is read-only.`,
    );
  });

  it("gives a second process the session to read, and the right to write once the first is gone", async () => {
    const { child, said } = await holder(place.directory);
    assert.equal(said, "open");
    const second = await SessionRecord.open(place.directory, opener);
    assert.match(second.readOnly ?? "", new RegExp(`Other .*process ${child.pid},`));
    assert.equal(second.events.length, 2);
    await second.close();
    child.stdin?.end();
    await once(child, "exit");
    const third = await SessionRecord.open(place.directory, opener);
    assert.equal(third.readOnly, undefined);
    await third.close();
  });

  it("changes nothing where it opens to read", async () => {
    const { child } = await holder(place.directory);
    const before = await readdir(place.directory);
    await writeFile(join(place.directory, "log.jsonl"), '{"seq":3,"at":"x"', { flag: "a" });
    const text = await readFile(place.log, "utf8");
    const second = await SessionRecord.open(place.directory, opener);
    for (const body of asks("two")) await assert.rejects(second.append(body));
    await second.refreshMeta();
    await assert.rejects(second.rename("other"));
    await second.close();
    assert.deepEqual(await readdir(place.directory), before);
    assert.equal(await readFile(place.log, "utf8"), text);
    child.stdin?.end();
    await once(child, "exit");
  });

  it("is taken over from a process that was killed", async () => {
    const { child } = await holder(place.directory);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal((await locks()).length, 1);
    const record = await SessionRecord.open(place.directory, opener);
    assert.equal(record.readOnly, undefined);
    assert.equal((await locks()).length, 1);
    await record.close();
  });

  it("is taken over where its number belongs to another program now", async () => {
    const started = (await processStarted(process.pid, ask)) ?? "";
    assert.notEqual(started, "");
    await leave({ started: String(Number(started) - 1) });
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "locked");
    assert.equal((await locks()).length, 1);
    await outcome.lock.release();
  });

  it("is taken over from before the machine was started", async () => {
    await leave({ realm: "another-boot pid:[1]" });
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "locked");
    await outcome.lock.release();
  });

  it("is left to a container or a machine that cannot be seen from here", async () => {
    const { realm } = await ownIdentity(ask);
    for (const unseen of [
      { realm: `${realm.split(" ")[0]} pid:[1]` },
      { realm: "another-boot pid:[1]", machine: "another-machine" },
    ]) {
      await leave({ ...unseen, pid: 4_000_000 });
      const outcome = await takeLock(place.directory, who, ask);
      assert.equal(outcome.kind, "held");
      await rm(join(place.directory, "lock.00000000000000aa"));
    }
    await leave({ realm: "another-boot pid:[1]", machine: "another-machine" });
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "held");
    assert.match(describeHolder(outcome.by, outcome.path), /on another-machine.*delete .*lock\./);
  });

  it("is taken over where a power cut left it without its content", async () => {
    await writeFile(join(place.directory, "lock.00000000000000aa"), "\0".repeat(50));
    await writeFile(join(place.directory, "lock.00000000000000ab"), "");
    const outcome = await takeLock(place.directory, who, ask);
    assert.ok(outcome.kind === "locked");
    assert.equal((await locks()).length, 1);
    await outcome.lock.release();
  });

  it("goes to one at most of many that come at once over a dead one", async () => {
    for (let round = 0; round < 10; round++) {
      await leave({ started: "1" });
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, () => takeLock(place.directory, who, ask)),
      );
      const taken = outcomes.filter((outcome) => outcome.kind === "locked");
      assert.ok(taken.length <= 1, `${taken.length} have it`);
      for (const outcome of taken) if (outcome.kind === "locked") await outcome.lock.release();
      assert.deepEqual(await locks(), []);
    }
  });

  it("does not wait for a holder that is settled", async () => {
    await mkdir(join(place.base, "other"));
    await leave({});
    const began = performance.now();
    assert.equal((await takeLock(place.directory, who, ask)).kind, "held");
    assert.ok(performance.now() - began < 1_000);
  });
});
