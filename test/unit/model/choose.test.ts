import assert from "node:assert/strict";
import { choiceText, choose, parseChoice } from "../../../src/vscode/models/choose.js";

async function chosen(given: {
  picked?: (string | undefined)[];
  vscode?: string[];
  ollama?: string;
}): Promise<{ choice: string; asked: string[] }> {
  const asked: string[] = [];
  const choice = await choose({
    picked: given.picked ?? [],
    vscodeModels: async () => {
      asked.push("vscode");
      return given.vscode ?? [];
    },
    ollamaModel: async () => {
      asked.push("ollama");
      return given.ollama;
    },
  });
  return { choice: choiceText(choice), asked };
}

describe("the model to start with", () => {
  it("is the setting, else the one picked last, and nothing else is asked", async () => {
    const given = { vscode: ["a"], ollama: "b" };
    assert.deepEqual(await chosen({ ...given, picked: ["openai", "demo"] }), {
      choice: "openai",
      asked: [],
    });
    assert.deepEqual(await chosen({ ...given, picked: ["auto", "vscode:x"] }), {
      choice: "vscode:x",
      asked: [],
    });
  });

  it("is then the first of VS Code's, then Ollama, then the demo", async () => {
    const picked = ["auto", undefined];
    assert.deepEqual(await chosen({ picked, vscode: ["a", "b"], ollama: "c" }), {
      choice: "vscode:a",
      asked: ["vscode"],
    });
    assert.deepEqual(await chosen({ picked, ollama: "c:8b" }), {
      choice: "ollama:c:8b",
      asked: ["vscode", "ollama"],
    });
    assert.deepEqual(await chosen({ picked }), { choice: "demo", asked: ["vscode", "ollama"] });
  });

  it("has a name that is read back as it was written", () => {
    for (const text of ["openai", "anthropic", "demo", "vscode:a:b", "ollama:qwen3:8b"]) {
      const choice = parseChoice(text);
      assert.ok(choice);
      assert.equal(choiceText(choice), text);
    }
    for (const text of [undefined, "", "auto", "vscode:", "ollama", "gpt-5", "OpenAI"]) {
      assert.equal(parseChoice(text), undefined);
    }
  });
});
