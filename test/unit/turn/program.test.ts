import assert from "node:assert/strict";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EventOf } from "../../../src/core/session/events.js";
import type { LiveSession } from "../../../src/core/turn/live.js";
import {
  askAndWait,
  call,
  calling,
  makeWorld,
  nextEvent,
  results,
  untilState,
  type World,
} from "./support.js";

const surface = "test";

/** A program that the system has, and the workspace may come to have: it says who was run. */
const NAME = "greet";

describe("a command whose program is looked for in PATH", () => {
  let world: World;
  let session: LiveSession;
  const script = async (path: string, says: string): Promise<void> => {
    await writeFile(path, `#!/bin/sh\necho ${says}\n`);
    await chmod(path, 0o755);
  };
  const open = async (path: string): Promise<void> => {
    const PATH = `${path}:${join(world.home, "bin")}:${process.env.PATH}`;
    session = await world.core({ env: { ...process.env, PATH } }).newSession(world.workspace);
  };
  beforeEach(async () => {
    world = await makeWorld();
    await mkdir(join(world.home, "bin"));
    await script(join(world.home, "bin", NAME), "system");
  });
  afterEach(() => world.dispose());

  const own = (): string => join(world.workspace, NAME);
  const run = () => {
    world.client.steps.splice(0, 9, calling(call("run", { argv: [NAME] })), { text: "ok" });
  };
  const cardFor = async (): Promise<EventOf<"card_raised">> => {
    run();
    const raised = nextEvent(session, "card_raised");
    await session.ask("go");
    return raised;
  };
  const ended = async (card: string, answer: "allow_once" | "allow_session"): Promise<string> => {
    const end = nextEvent(session, "call_ended");
    await session.answerCard(card, answer, { surface });
    return (await end).result;
  };
  const reason = (path: string): string[] => [
    `Its program comes with the workspace: PATH gives ${path}.`,
  ];

  it("says so on its card where the workspace has it, by an entry that is empty, relative or full", async () => {
    await script(own(), "workspace");
    for (const entry of ["", ".", world.workspace]) {
      await open(entry);
      const card = await cardFor();
      assert.deepEqual([card.argv, card.program, card.reasons], [[NAME], own(), reason(own())]);
      assert.match(await ended(card.card, "allow_once"), /workspace/);
      await session.close();
    }
  });

  it("says nothing where the system has it, or it is named by its path", async () => {
    await script(own(), "workspace");
    await open("/nowhere");
    const card = await cardFor();
    assert.deepEqual([card.program, card.reasons], [undefined, undefined]);
    assert.match(await ended(card.card, "allow_once"), /system/);
    world.client.steps.push(calling(call("run", { argv: [`./${NAME}`] })));
    const next = nextEvent(session, "card_raised");
    await session.ask("go");
    assert.equal((await next).reasons, undefined);
    await session.cancel();
  });

  it("knows a program of the workspace that a link elsewhere leads to", async () => {
    await script(own(), "workspace");
    await rm(join(world.home, "bin", NAME));
    await symlink(own(), join(world.home, "bin", NAME));
    await open("/nowhere");
    const card = await cardFor();
    assert.deepEqual(card.reasons, reason(join(world.home, "bin", NAME)));
    await session.cancel();
  });

  it("is asked for again where the workspace came to have it while its card was up", async () => {
    await open(".");
    const first = await cardFor();
    assert.equal(first.reasons, undefined);
    await script(own(), "workspace");
    const again = nextEvent(session, "card_raised");
    await session.answerCard(first.card, "allow_session", { surface });
    const second = await again;
    assert.deepEqual([second.replaces, second.reasons], [first.card, reason(own())]);
    assert.deepEqual([results(session), session.allows], [[], []]);
    const end = nextEvent(session, "call_ended");
    await session.answerCard(second.card, "deny", { surface });
    assert.match((await end).result, /Denied/);
  });

  it("is asked for again where the workspace came to have it after it was allowed", async () => {
    await open(".");
    assert.match(await ended((await cardFor()).card, "allow_session"), /system/);
    await untilState(session, "idle");
    run();
    await askAndWait(session, "again");
    assert.match(results(session)[1]?.result ?? "", /system/);
    await script(own(), "workspace");
    const card = await cardFor();
    assert.deepEqual(card.reasons, reason(own()));
    assert.match(await ended(card.card, "allow_session"), /workspace/);
    await untilState(session, "idle");
    run();
    await askAndWait(session, "again");
    assert.match(results(session)[3]?.result ?? "", /workspace/);
    assert.deepEqual(
      session.allows.map(({ allow }) => allow),
      [{ run: [NAME] }],
    );
  });
});
