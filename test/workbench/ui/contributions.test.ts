import { describeMenus } from "./menus.js";
import { type Panel, startPanel } from "./panel.js";
import { describeSettings, SETTINGS } from "./settings.js";
import { describeWalkthrough } from "./walkthrough.js";

// One window for all of them: to open one takes as long as ten tests in it.
describe("what package.json contributes", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({
      settings: {
        ...SETTINGS,
        // The menus of the editor's own pages, whatever the system's are.
        "window.menuStyle": "custom",
        "files.autoSave": "off",
      },
      files: {
        ...{ "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n", "d.txt": "one\n" },
        "large.txt": "a line of many\n".repeat(2_000),
      },
    });
  });
  after(() => panel?.stop());

  describe("commands, where VS Code offers them", () => describeMenus(() => panel));
  describe("settings", () => describeSettings(() => panel));
  describe("the walkthrough", () => describeWalkthrough(() => panel));
});
