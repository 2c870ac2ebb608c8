import type { Core, CoreOptions } from "../core/turn/live.js";

/** A core that is loaded when it is first needed, or once `load` says that it will be. */
export interface LateCore extends Core {
  load(): void;
}

/** Keeps the core out of activation: registering the shell needs none of it. */
export function lateCore(options: CoreOptions): LateCore {
  let loading: Promise<Core> | undefined;
  let loaded: Core | undefined;
  let over = false;
  const core = (): Promise<Core> => {
    loading ??= import("../core/core.js").then(({ createCore }) => {
      if (over) throw new Error("the window is closing");
      loaded = createCore(options);
      return loaded;
    });
    return loading;
  };
  return {
    load: () => {
      core().catch((error: unknown) => options.report(String(error)));
    },
    listSessions: async () => (await core()).listSessions(),
    newSession: async (...given) => (await core()).newSession(...given),
    openSession: async (...given) => (await core()).openSession(...given),
    renameSession: async (...given) => (await core()).renameSession(...given),
    sessionDirectory: async (...given) => (await core()).sessionDirectory(...given),
    readSession: async (...given) => (await core()).readSession(...given),
    verifyLog: async (...given) => (await core()).verifyLog(...given),
    releaseSession: async (...given) => (await core()).releaseSession(...given),
    // Before it is loaded it has no session that could be told.
    filesChanged: (paths) => loaded?.filesChanged(paths),
    dispose: async () => {
      over = true;
      await loaded?.dispose();
    },
  };
}
