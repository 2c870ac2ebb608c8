import assert from "node:assert/strict";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { LiveSession, UndoPlan } from "../../../src/core/turn/live.js";
import { transcript } from "../../../src/core/turn/transcript.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { call, calling, eventOf, makeWorld, untilState, type World } from "./support.js";
import {
  ofType,
  planOf,
  put,
  run,
  states,
  textOf,
  turn,
  turnOf,
  undo,
  undone,
  write,
} from "./undoSupport.js";
import { assertValid } from "./valid.js";

describe("an undo", () => {
  let world: World;
  let session: LiveSession;
  beforeEach(async () => {
    world = await makeWorld();
    session = await world.core().newSession(world.workspace);
  });
  afterEach(() => world.dispose());

  const path = (name: string): string => join(world.workspace, name);

  it("waits for a turn that was cut short and is not over", async () => {
    const id = await turnOf(world, session, "go", write("a.txt", "a\n"));
    world.client.steps.push(calling(call("run", { argv: ["true"] })));
    await session.ask("again");
    await untilState(session, "waiting");
    await session.close();
    // A card of it is up again at once where its host comes back; in between nobody drives it.
    const log = join(world.home, "sessions", session.id, "log.jsonl");
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
    await writeFile(log, `${lines.slice(0, -2).join("\n")}\n`);
    session = await world.core().openSession(session.id);
    assert.equal(session.state, "interrupted");
    assert.equal(
      await session.planUndo(turn(id)),
      "A turn is not over: go on with it or cancel it, then undo.",
    );
    await session.cancel();
    assert.deepEqual(states(await planOf(session, turn(id))), ["a.txt: remove"]);
  });

  it("brings back what a turn replaced and removes what it made, and the log has it all", async () => {
    await put(world, "a.txt", "old\n");
    const id = await turnOf(world, session, "go", write("a.txt", "new\n"), write("d/b.txt", "b\n"));
    assert.deepEqual(
      session.undoable.map(({ text, files, commands }) => ({ text, files, commands })),
      [{ text: "go", files: ["a.txt", "d/b.txt"], commands: [] }],
    );
    const outcome = await undo(session, turn(id));
    assert.ok(outcome.outcome === "done");
    assert.deepEqual(outcome.files, [
      { path: path("a.txt"), outcome: "restored" },
      { path: path("d/b.txt"), outcome: "removed", trash: false },
    ]);
    assert.equal(await textOf(world, "a.txt"), "old\n");
    assert.equal(await textOf(world, "d/b.txt"), null);
    // The directory that was made stays: what else may have come to be in it is not looked at.
    assert.deepEqual(await readdir(path("d")), []);
    const [started] = ofType(session, "undo_started");
    const { seq: _, at: __, ...fields } = started ?? { seq: 0, at: "" };
    assert.deepEqual("hash" in fields ? { ...fields, hash: undefined } : fields, {
      type: "undo_started",
      undo: outcome.undo,
      kind: "turn",
      of: id,
      surface: "test",
      files: [
        {
          path: path("a.txt"),
          relative: "a.txt",
          before: digest(Buffer.from("new\n")),
          after: digest(Buffer.from("old\n")),
          mode: (await stat(path("a.txt"))).mode & 0o777,
        },
        {
          path: path("d/b.txt"),
          relative: "d/b.txt",
          before: digest(Buffer.from("b\n")),
          after: null,
          mode: started?.files[1]?.mode,
        },
      ],
    });
    assert.deepEqual(
      session.events.slice(-4).map(({ type }) => type),
      ["undo_started", "undo_file", "undo_file", "undo_ended"],
    );
  });

  it("can itself be undone, and that again, byte for byte and with the mode bits", async () => {
    await put(world, "a.txt", "old\r\n\u0000");
    const id = await turnOf(world, session, "go", write("a.txt", "new"), write("run.sh", "x\n"));
    await chmod(path("run.sh"), 0o751);
    const first = await undo(session, turn(id));
    assert.ok(first.outcome === "done");
    assert.equal(await textOf(world, "run.sh"), null);
    assert.equal(session.undoneBy(turn(id)), first.undo);
    const second = await undo(session, undone(first.undo));
    assert.ok(second.outcome === "done");
    assert.equal(await textOf(world, "a.txt"), "new");
    assert.equal(await textOf(world, "run.sh"), "x\n");
    assert.equal((await stat(path("run.sh"))).mode & 0o7777, 0o751);
    assert.equal(session.undoneBy(turn(id)), undefined);
    const third = await undo(session, turn(id));
    assert.ok(third.outcome === "done");
    assert.equal(await textOf(world, "a.txt"), "old\r\n\u0000");
    assert.equal(await textOf(world, "run.sh"), null);
    assert.equal(session.undoneBy(turn(id)), third.undo);
    assert.equal(session.undoable[0]?.undone, third.undo);
  });

  it("goes back to before the first of several writes of one file", async () => {
    await put(world, "a.txt", "1\n");
    const id = await turnOf(
      world,
      session,
      "go",
      write("a.txt", "2\n"),
      write("b.txt", "1\n"),
      call("search_replace", { path: "a.txt", old: "2", new: "3" }),
      write("b.txt", "2\n"),
    );
    assert.deepEqual(states(await planOf(session, turn(id))), ["a.txt: restore", "b.txt: remove"]);
    await undo(session, turn(id));
    assert.deepEqual([await textOf(world, "a.txt"), await textOf(world, "b.txt")], ["1\n", null]);
  });

  it("undoes a single write, and leaves the others of its turn", async () => {
    await put(world, "a.txt", "1\n");
    await put(world, "b.txt", "1\n");
    await turnOf(world, session, "go", write("a.txt", "2\n", "wa"), write("b.txt", "2\n", "wb"));
    await undo(session, { kind: "call", id: "wb" });
    assert.deepEqual([await textOf(world, "a.txt"), await textOf(world, "b.txt")], ["2\n", "1\n"]);
    assert.notEqual(session.undoneBy({ kind: "call", id: "wb" }), undefined);
    assert.equal(session.undoneBy({ kind: "call", id: "wa" }), undefined);
  });

  it("says which commands ran in the turn, and does not touch what they did", async () => {
    const id = await turnOf(
      world,
      session,
      "go",
      write("a.txt", "a\n"),
      run("sh", "-c", "echo ran > c.txt"),
    );
    const plan = await planOf(session, turn(id));
    assert.deepEqual(plan.commands, [["sh", "-c", "echo ran > c.txt"]]);
    assert.deepEqual(session.undoable[0]?.commands, plan.commands);
    await session.undo(plan, new Map(), "test");
    assert.deepEqual([await textOf(world, "a.txt"), await textOf(world, "c.txt")], [null, "ran\n"]);
  });

  it("puts a new file to the trash where the host has one, and unlinks it where that fails", async () => {
    const trashed: string[] = [];
    const core = world.core({
      trash: async (file) => {
        if (file.endsWith("b.txt")) throw new Error("no trash here");
        trashed.push(file);
        await rename(file, join(world.home, "trashed"));
      },
    });
    const other = await core.newSession(world.workspace);
    const id = await turnOf(world, other, "go", write("a.txt", "a\n"), write("b.txt", "b\n"));
    const outcome = await undo(other, turn(id));
    assert.ok(outcome.outcome === "done");
    assert.deepEqual(outcome.files, [
      { path: path("a.txt"), outcome: "removed", trash: true },
      { path: path("b.txt"), outcome: "removed", trash: false },
    ]);
    assert.deepEqual(trashed, [path("a.txt")]);
    assert.equal(await readFile(join(world.home, "trashed"), "utf8"), "a\n");
    assert.equal(await textOf(world, "b.txt"), null);
  });

  describe("of a file that is not what the turn left", () => {
    const lines = (...changed: readonly (readonly [number, string])[]): string => {
      const all = Array.from({ length: 20 }, (_, index) => `line ${index}`);
      for (const [at, text] of changed) all[at] = text;
      return `${all.join("\n")}\n`;
    };

    /** A turn that changed line 2, and someone who then changed another. */
    async function conflict(theirs: string | null): Promise<{ id: string; plan: UndoPlan }> {
      await put(world, "a.txt", lines());
      const id = await turnOf(world, session, "go", write("a.txt", lines([2, "turn"])));
      if (theirs === null) await rm(path("a.txt"));
      else await put(world, "a.txt", theirs);
      return { id, plan: await planOf(session, turn(id)) };
    }

    it("shows the three states, and keeps what is there unless the user says otherwise", async () => {
      const now = lines([2, "turn"], [15, "mine"]);
      const { plan } = await conflict(now);
      const [item] = plan.items;
      assert.deepEqual(
        [item?.state, item?.why, item?.before, item?.left, item?.now].map((one) =>
          one instanceof Uint8Array ? Buffer.from(one).toString() : one,
        ),
        ["conflict", "since", lines(), lines([2, "turn"]), now],
      );
      for (const choices of [new Map(), new Map([[path("a.txt"), "keep" as const]])]) {
        assert.deepEqual(await session.undo(plan, choices, "test"), {
          outcome: "refused",
          message: "There is nothing to undo.",
        });
      }
      assert.equal(await textOf(world, "a.txt"), now);
      assert.deepEqual(ofType(session, "undo_started"), []);
    });

    it("restores the old bytes where the user wants that, and can bring back what was there", async () => {
      const now = lines([2, "turn"], [15, "mine"]);
      const { id } = await conflict(now);
      const outcome = await undo(session, turn(id), "restore");
      assert.ok(outcome.outcome === "done");
      assert.equal(await textOf(world, "a.txt"), lines());
      assert.equal(ofType(session, "undo_started")[0]?.files[0]?.choice, "restore");
      await undo(session, undone(outcome.undo));
      assert.equal(await textOf(world, "a.txt"), now);
    });

    it("merges where the changes stand apart: exactly the bytes that were shown", async () => {
      const { plan } = await conflict(lines([2, "turn"], [15, "mine"]));
      const merged = plan.items[0]?.merged;
      assert.equal(Buffer.from(merged ?? []).toString(), lines([15, "mine"]));
      const outcome = await session.undo(plan, new Map([[path("a.txt"), "merge"]]), "test");
      assert.equal(outcome.outcome, "done");
      assert.equal(await textOf(world, "a.txt"), lines([15, "mine"]));
    });

    it("offers no merge where the changes meet, and does none", async () => {
      const now = lines([2, "turn and mine"]);
      const { plan } = await conflict(now);
      assert.equal(plan.items[0]?.merged, undefined);
      const outcome = await session.undo(plan, new Map([[path("a.txt"), "merge"]]), "test");
      assert.equal(outcome.outcome, "refused");
      assert.equal(await textOf(world, "a.txt"), now);
    });

    it("makes a file that is gone anew, with its mode, where the user wants that", async () => {
      await put(world, "a.txt", lines());
      await chmod(path("a.txt"), 0o640);
      const { plan } = await conflict(null);
      assert.deepEqual(states(plan), ["a.txt: conflict (since)"]);
      await session.undo(plan, new Map([[path("a.txt"), "restore"]]), "test");
      assert.equal(await textOf(world, "a.txt"), lines());
      assert.equal((await stat(path("a.txt"))).mode & 0o7777, 0o640);
    });

    it("asks before a new file goes that someone went on with", async () => {
      const id = await turnOf(world, session, "go", write("new.txt", "1\n"));
      await put(world, "new.txt", "1\nmine\n");
      assert.equal((await undo(session, turn(id))).outcome, "refused");
      assert.equal(await textOf(world, "new.txt"), "1\nmine\n");
      await undo(session, turn(id), "restore");
      assert.equal(await textOf(world, "new.txt"), null);
    });

    it("does not take the bytes of someone who changed it between two writes of the turn", async () => {
      await put(world, "a.txt", "1\n");
      world.client.steps.push(
        calling(write("a.txt", "2\n")),
        async () => {
          await put(world, "a.txt", "2\nmine\n");
          return calling(call("search_replace", { path: "a.txt", old: "2", new: "3" }));
        },
        { text: "Done." },
      );
      session.onEvent((event) => {
        if (event.type === "card_raised")
          void session.answerCard(event.card, "allow_once", { surface: "test" });
      });
      await session.ask("go");
      await untilState(session, "idle");
      const id = session.undoable[0]?.target.id ?? "";
      const plan = await planOf(session, turn(id));
      assert.deepEqual(states(plan), ["a.txt: conflict (between)"]);
      assert.equal((await session.undo(plan, new Map(), "test")).outcome, "refused");
      assert.equal(await textOf(world, "a.txt"), "3\nmine\n");
    });

    it("has nothing to do where it is as it was before", async () => {
      const { id, plan } = await conflict(lines());
      assert.deepEqual(states(plan), ["a.txt: same"]);
      assert.equal((await undo(session, turn(id), "restore")).outcome, "refused");
    });
  });

  describe("does nothing", () => {
    it("where a file changes between the list and the yes", async () => {
      await put(world, "a.txt", "1\n");
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"), write("b.txt", "2\n"));
      const plan = await planOf(session, turn(id));
      await put(world, "b.txt", "mine\n");
      assert.deepEqual(await session.undo(plan, new Map(), "test"), { outcome: "changed" });
      assert.deepEqual(ofType(session, "undo_started"), []);
      assert.deepEqual(
        [await textOf(world, "a.txt"), await textOf(world, "b.txt")],
        ["2\n", "mine\n"],
      );
    });

    it("while a turn runs, or waits for a card, or was left open", async () => {
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
      const plan = await planOf(session, turn(id));
      world.client.steps.push(calling(write("b.txt", "b\n")), { text: "ok" });
      await session.ask("more");
      await untilState(session, "waiting");
      assert.match(String(await session.planUndo(turn(id))), /^A turn is running/);
      const outcome = await session.undo(plan, new Map(), "test");
      assert.ok(outcome.outcome === "refused");
      assert.match(outcome.message, /^A turn is running: cancel it or wait/);
      await session.cancel();
      assert.equal((await undo(session, turn(id))).outcome, "done");
    });

    it("with a plan that it did not make", async () => {
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
      const plan = await planOf(session, turn(id));
      await assert.rejects(session.undo({ ...plan }, new Map(), "test"), /no plan of this session/);
      assert.equal(await textOf(world, "a.txt"), "2\n");
    });

    it("twice at a time", async () => {
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
      const [one, two] = await Promise.all([planOf(session, turn(id)), planOf(session, turn(id))]);
      const both = await Promise.all(
        [one, two].map((plan) => session.undo(plan, new Map(), "test")),
      );
      assert.deepEqual(
        both.map(({ outcome }) => outcome),
        ["done", "refused"],
      );
      assert.equal(ofType(session, "undo_started").length, 1);
    });

    it("to a file whose bytes were not kept, or are not those any more", async () => {
      await put(world, "a.txt", "1\n");
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
      const blob = join(world.home, "sessions", session.id, "blobs", digest(Buffer.from("1\n")));
      await writeFile(blob, "evil\n");
      assert.deepEqual(states(await planOf(session, turn(id))), ["a.txt: impossible (lost)"]);
      await rm(blob);
      assert.equal((await undo(session, turn(id), "restore")).outcome, "refused");
      assert.equal(await textOf(world, "a.txt"), "2\n");
    });

    it("through a link that is in the way by now", async () => {
      await put(world, "d/a.txt", "1\n");
      await put(world, "e/a.txt", "2\n");
      const id = await turnOf(world, session, "go", write("d/a.txt", "2\n"));
      const plan = await planOf(session, turn(id));
      await rename(path("d"), path("d2"));
      await symlink("e", path("d"));
      assert.deepEqual(await session.undo(plan, new Map(), "test"), { outcome: "changed" });
      assert.deepEqual(states(await planOf(session, turn(id))), [
        "d/a.txt: impossible (elsewhere)",
      ]);
      assert.equal(await textOf(world, "e/a.txt"), "2\n");
    });

    it("to a directory, a read-only file, or one that cannot be read", async () => {
      for (const name of ["a", "b", "c"]) await put(world, name, "1\n");
      const id = await turnOf(
        world,
        session,
        "go",
        ...["a", "b", "c"].map((name) => write(name, "2\n")),
      );
      await rm(path("a"));
      await mkdir(path("a"));
      await chmod(path("b"), 0o444);
      assert.deepEqual(states(await planOf(session, turn(id))), [
        "a: impossible (unreadable)",
        "b: impossible (readOnly)",
        "c: restore",
      ]);
      await undo(session, turn(id), "restore");
      assert.deepEqual([await textOf(world, "b"), await textOf(world, "c")], ["2\n", "1\n"]);
    });

    it("in a session of an earlier version, whose log names no bytes", async () => {
      const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
      await session.close();
      const log = join(world.home, "sessions", session.id, "log.jsonl");
      const text = await readFile(log, "utf8");
      await writeFile(log, text.replace(/,"write":\{[^}]*\}/, ""));
      const again = await world.core().openSession(session.id);
      assert.deepEqual(again.undoable, []);
      assert.match(String(await again.planUndo(turn(id))), /^There is nothing to undo/);
    });
  });

  it("writes through a link inside the workspace to where the turn wrote", async () => {
    await put(world, "real.txt", "1\n");
    await symlink("real.txt", path("link.txt"));
    const id = await turnOf(world, session, "go", write("link.txt", "2\n"));
    assert.deepEqual(states(await planOf(session, turn(id))), ["real.txt: restore"]);
    await undo(session, turn(id));
    assert.equal(await textOf(world, "real.txt"), "1\n");
    assert.equal(await textOf(world, "link.txt"), "1\n");
  });

  it("goes on with the other files where one fails at the last moment, and says which", async () => {
    const core = world.core({
      trash: async (file) => {
        // Someone is faster than the trash.
        await rm(file);
        await writeFile(file, "mine\n");
      },
    });
    const other = await core.newSession(world.workspace);
    await put(world, "z.txt", "1\n");
    const id = await turnOf(world, other, "go", write("new.txt", "2\n"), write("z.txt", "2\n"));
    const outcome = await undo(other, turn(id));
    assert.ok(outcome.outcome === "done");
    assert.deepEqual(
      outcome.files.map((file) => file.outcome),
      ["failed", "restored"],
    );
    assert.deepEqual(
      [await textOf(world, "new.txt"), await textOf(world, "z.txt")],
      ["mine\n", "1\n"],
    );
    assert.deepEqual(
      ofType(other, "undo_file").map((file) => file.outcome),
      ["failed", "restored"],
    );
  });

  it("tells the model with the next ask, and requests stay valid and begin as before", async () => {
    await put(world, "a.txt", "1\n");
    const id = await turnOf(world, session, "go", write("a.txt", "2\n"), write('n"\n].txt', "x"));
    const before = transcript(session.events);
    await undo(session, turn(id));
    assert.deepEqual(transcript(session.events), before);
    world.client.steps.push({ text: "I see." });
    await session.ask("and now?");
    await untilState(session, "idle");
    const request = world.client.requests.at(-1);
    assert.ok(request);
    assertValid(request);
    assert.deepEqual(request.messages.slice(0, before.length), before);
    assert.deepEqual(request.messages.slice(before.length), [
      {
        role: "user",
        text: '[Note: the user undid changes of a turn. Written again as they were before: "a.txt". Removed: "n\\"\\n].txt". What commands did was not undone. Do not make these changes again unless you are asked to.]\n\nand now?',
      },
    ]);
    world.client.steps.push({ text: "Yes." });
    await session.ask("more");
    await untilState(session, "idle");
    const next = world.client.requests.at(-1);
    assert.deepEqual(next?.messages.slice(0, request.messages.length), request.messages);
    assert.deepEqual(next?.messages.at(-1), { role: "user", text: "more" });
  });

  it("tells the model of it also where the turn that failed is gone on with", async () => {
    await put(world, "a.txt", "1\n");
    world.client.steps.push(calling(write("a.txt", "2\n")), new Error("the model broke"));
    const raised = eventOf(session, "card_raised");
    await session.ask("go");
    await session.answerCard((await raised).card, "allow_once", { surface: "test" });
    await untilState(session, "idle");
    await undo(session, turn(session.undoable[0]?.target.id ?? ""));
    world.client.steps.push({ text: "ok" });
    await session.goOn();
    await untilState(session, "idle");
    const request = world.client.requests.at(-1);
    assert.ok(request);
    assertValid(request);
    assert.match(
      request.messages.at(-1)?.text ?? "",
      /^\[Note: the user undid .*"a\.txt".*\n\nGo on\.$/,
    );
  });

  it("is waited for by an ask that comes in the middle of it", async () => {
    const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
    const plan = await planOf(session, turn(id));
    world.client.steps.push({ text: "ok" });
    const [outcome, asked] = await Promise.all([
      session.undo(plan, new Map(), "test"),
      session.ask("next"),
    ]);
    assert.deepEqual([outcome.outcome, asked.outcome], ["done", "started"]);
    await untilState(session, "idle");
    const order = session.events.map(({ type }) => type);
    assert.ok(order.indexOf("undo_ended") < order.lastIndexOf("turn_started"));
  });

  it("makes the open card of another session anew from what it leaves", async () => {
    await put(world, "a.txt", "1\n");
    const core = world.cores[0];
    assert.ok(core);
    const id = await turnOf(world, session, "go", write("a.txt", "2\n"));
    const other = await core.newSession(world.workspace);
    world.client.steps.push(calling(write("a.txt", "3\n")), { text: "ok" });
    await other.ask("go");
    await untilState(other, "waiting");
    const [first] = other.openCards;
    const anew = new Promise<unknown>((resolve) => {
      other.onEvent((event) => {
        if (event.type === "card_raised") resolve([event.replaces, event.diff]);
      });
    });
    await undo(session, turn(id));
    assert.deepEqual(await anew, [first?.card, "@@ -1,1 +1,1 @@\n-1\n+3\n"]);
    await other.cancel();
  });
});
