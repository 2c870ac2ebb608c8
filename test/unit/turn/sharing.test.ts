import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Delta, OtherCard } from "../../../src/core/session/events.js";
import type { Core, LiveSession, OpenCard } from "../../../src/core/turn/live.js";
import {
  call,
  calling,
  eventOf,
  makeWorld,
  nextEvent,
  results,
  ScriptedClient,
  type Step,
  types,
  untilState,
  type World,
} from "./support.js";

type Told = Extract<Delta, { type: "card_others" }>;

const once = { surface: "test" } as const;

function write(path: string, content: string): Step {
  return calling(call("write_file", { path, content }));
}

function onlyCard(session: LiveSession): OpenCard {
  const [card, ...more] = session.openCards;
  assert.ok(card !== undefined && more.length === 0, `${session.openCards.length} cards are open`);
  return card;
}

/** What is told of the open card of a session from now on. */
function nextOthers(session: LiveSession): Promise<readonly OtherCard[]> {
  return new Promise((resolve) => {
    const listening = session.onDelta((delta) => {
      if (delta.type !== "card_others") return;
      listening.dispose();
      resolve(delta.others);
    });
  });
}

describe("two sessions with a card for one file", () => {
  let world: World;
  let core: Core;
  let clients: Map<string, ScriptedClient>;

  beforeEach(async () => {
    world = await makeWorld();
    clients = new Map();
    core = world.core({
      client: async (session) => clients.get(session) ?? new ScriptedClient([]),
    });
    await writeFile(join(world.workspace, "a.txt"), "one\n");
    await writeFile(join(world.workspace, "b.txt"), "one\n");
  });
  afterEach(() => world.dispose());

  /** A session at work on what its model was told to do; its card is up. */
  async function atCard(title: string, ...steps: Step[]): Promise<LiveSession> {
    const session = await core.newSession(world.workspace);
    clients.set(session.id, new ScriptedClient(steps));
    const raised = nextEvent(session, "card_raised");
    await session.ask(title);
    await raised;
    return session;
  }
  const disk = (path: string): Promise<string> => readFile(join(world.workspace, path), "utf8");

  it("are told of each other, and of nobody once one of the cards is gone", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    assert.equal(onlyCard(first).others, undefined);
    const told = nextOthers(first);
    const second = await atCard("Second", write("./a.txt", "three\n"));
    const [mine, theirs] = [onlyCard(first), onlyCard(second)];
    assert.deepEqual(await told, [{ session: second.id, title: "Second", card: theirs.card }]);
    assert.deepEqual(mine.others, [{ session: second.id, title: "Second", card: theirs.card }]);
    assert.deepEqual(theirs.others, [{ session: first.id, title: "First", card: mine.card }]);

    const none = nextOthers(first);
    await second.answerCard(theirs.card, "deny", once);
    assert.deepEqual(await none, []);
    assert.equal(onlyCard(first).others, undefined);
    assert.equal(types(first).includes("card_withdrawn"), false);
  });

  it("are told of nobody where the files differ, or a card is not for a write", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("b.txt", "two\n"));
    const third = await atCard("Third", calling(call("run", { argv: ["cat", "a.txt"] })));
    for (const session of [first, second, third]) {
      assert.equal(onlyCard(session).others, undefined);
    }
  });

  it("are told of nobody once the other session is closed", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("a.txt", "three\n"));
    const none = nextOthers(first);
    await second.close();
    assert.deepEqual(await none, []);
  });

  it("have the second one made anew by itself when the first lands", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("a.txt", "three\n"));
    const old = onlyCard(second);
    const anew = nextEvent(second, "card_raised");
    await first.answerCard(onlyCard(first).card, "allow_once", once);
    const raised = await anew;
    assert.equal(raised.replaces, old.card);
    assert.match(raised.diff ?? "", /-two\n\+three/);
    assert.equal(await disk("a.txt"), "two\n");
    assert.deepEqual(await second.answerCard(old.card, "allow_once", once), {
      outcome: "gone",
      message: "This card has been withdrawn.",
    });
    assert.equal(await disk("a.txt"), "two\n");
    await second.answerCard(onlyCard(second).card, "allow_once", once);
    await untilState(second, "idle");
    assert.equal(await disk("a.txt"), "three\n");
    assert.equal(types(second).filter((type) => type === "card_raised").length, 2);
  });

  it("have the second one made anew where the first goes through by an allow", async () => {
    const first = await atCard("First", write("a.txt", "two\n"), write("a.txt", "four\n"));
    await first.answerCard(onlyCard(first).card, "allow_session", once);
    await untilState(first, "idle");
    const second = await atCard("Second", write("a.txt", "three\n"));
    clients.set(first.id, new ScriptedClient([write("a.txt", "five\n")]));
    const anew = nextEvent(second, "card_raised");
    await first.ask("Again");
    assert.match((await anew).diff ?? "", /-five\n\+three/);
  });

  it("have a replacement that is not there any more fail as one", async () => {
    const replace = (text: string): Step =>
      calling(call("search_replace", { path: "a.txt", old: "one", new: text }));
    const first = await atCard("First", replace("two"));
    const second = await atCard("Second", replace("three"));
    await first.answerCard(onlyCard(first).card, "allow_once", once);
    const ended = await eventOf(second, "call_ended");
    assert.equal(ended.ok, false);
    assert.match(ended.result, /not found|is not in/i);
    assert.equal(await disk("a.txt"), "two\n");
  });

  it("leave a second one that a person has edited up, and marked: its text would be lost", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("a.txt", "three\n"));
    const { card } = onlyCard(second);
    assert.deepEqual(await second.editCard(card, Buffer.from("mine\n")), { outcome: "taken" });
    const marked = new Promise<Delta>((resolve) => {
      second.onDelta((delta) => delta.type === "card_changed" && resolve(delta));
    });
    await first.answerCard(onlyCard(first).card, "allow_once", once);
    assert.deepEqual(await marked, { type: "card_changed", card, changed: true, unsaved: false });
    assert.equal(onlyCard(second).card, card);
    assert.equal(Buffer.from(onlyCard(second).edit?.after ?? []).toString(), "mine\n");
  });

  it("have a card made anew by an undo in the other", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    await first.answerCard(onlyCard(first).card, "allow_once", once);
    await untilState(first, "idle");
    const second = await atCard("Second", write("a.txt", "three\n"));
    const anew = nextEvent(second, "card_raised");
    const turn = first.events.at(-1)?.turn ?? "";
    const plan = await first.planUndo({ kind: "turn", id: turn });
    assert.ok(typeof plan !== "string");
    assert.equal((await first.undo(plan, new Map(), "test")).outcome, "done");
    assert.match((await anew).diff ?? "", /-one\n\+three/);
  });

  it("leave the second alone where the first is denied", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("a.txt", "three\n"));
    const old = onlyCard(second).card;
    await first.answerCard(onlyCard(first).card, "deny", once);
    await untilState(first, "idle");
    assert.equal(onlyCard(second).card, old);
  });

  it("are three, and each landing makes the others anew, until all are answered", async () => {
    const names = ["x", "y", "z"];
    const sessions: LiveSession[] = [];
    for (const name of names) sessions.push(await atCard(name, write("a.txt", `${name}\n`)));
    const [x, y, z] = sessions;
    assert.ok(x && y && z);
    assert.equal(onlyCard(x).others?.length, 2);
    for (const [at, session] of [x, y].entries()) {
      const others = sessions.slice(at + 1).map((other) => nextEvent(other, "card_raised"));
      await session.answerCard(onlyCard(session).card, "allow_once", once);
      await Promise.all(others);
    }
    await z.answerCard(onlyCard(z).card, "allow_once", once);
    await untilState(z, "idle");
    assert.equal(await disk("a.txt"), "z\n");
    assert.deepEqual(
      sessions.map((one) => types(one).filter((type) => type === "card_raised").length),
      [1, 2, 3],
    );
  });

  it("cannot both be answered for what they showed, however the answers race", async () => {
    for (let round = 0; round < 15; round++) {
      await writeFile(join(world.workspace, "a.txt"), "one\n");
      const first = await atCard("First", write("a.txt", "two\n"));
      const second = await atCard("Second", write("a.txt", "three\n"));
      const [a, b] = [onlyCard(first).card, onlyCard(second).card];
      // Some of the answers come while the first's write is under way, some behind it.
      const answered = first.answerCard(a, "allow_once", once);
      for (let turns = 0; turns < round; turns++) await new Promise(setImmediate);
      await Promise.all([answered, second.answerCard(b, "allow_once", once)]);
      const ends = [first, second].map(async (one) => {
        await eventOf(one, "call_ended");
        return one;
      });
      // Whoever came first has written; the other's card is made anew, and shows that.
      const winner = await Promise.race(ends);
      const [loser, old] = winner === first ? [second, b] : [first, a];
      const fresh = await eventOf(loser, "card_raised", ({ replaces }) => replaces === old);
      const [now, wanted] = winner === first ? ["two", "three"] : ["three", "two"];
      assert.equal(await disk("a.txt"), `${now}\n`);
      assert.match(fresh.diff ?? "", new RegExp(`-${now}\\n\\+${wanted}`));
      await first.cancel();
      await second.cancel();
      for (const session of [first, second]) {
        assert.equal(results(session).length, 1);
        await session.close();
      }
    }
  });

  it("are told of each other again after the host was away", async () => {
    const first = await atCard("First", write("a.txt", "two\n"));
    const second = await atCard("Second", write("a.txt", "three\n"));
    const [one, two] = [first.id, second.id];
    await core.dispose();
    core = world.core({ client: async () => new ScriptedClient([]) });
    const again = await core.openSession(one);
    const told: Told[] = [];
    again.onDelta((delta) => delta.type === "card_others" && told.push(delta));
    const heard = nextOthers(again);
    const other = await core.openSession(two);
    assert.deepEqual(await heard, [{ session: two, title: "Second", card: onlyCard(other).card }]);
    assert.equal(onlyCard(other).others?.[0]?.card, onlyCard(again).card);
    assert.equal(told.length, 1);
  });
});
