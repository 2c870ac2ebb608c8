import type { Workspace } from "../../../src/core/workspace/types.js";
import { type Planted, plantTree, type Tree } from "../../support/tree.js";
import { workspaceOn } from "./permits.js";

export { located, readPermit, runPermit, workspaceOn, writePermit } from "./permits.js";

export interface Ground extends Planted {
  readonly workspace: Workspace;
}

const planted: Planted[] = [];
after(async () => {
  await Promise.all(planted.splice(0).map((tree) => tree.remove()));
});

/** A temporary directory with `ws` (the workspace) in it, and whatever else `tree` has. */
export async function ground(ws: Tree, beside: Tree = {}): Promise<Ground> {
  const tree = await plantTree({ ws, ...beside });
  planted.push(tree);
  return { ...tree, workspace: await workspaceOn(tree.at("ws")) };
}

/** Runs of a property test; FC_RUNS asks for more. */
export const runs = (usual: number) => Number(process.env.FC_RUNS ?? usual);
