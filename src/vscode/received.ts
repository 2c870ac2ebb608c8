import type { FromPanel } from "../webview/protocol.js";

const protocol = () => import("../webview/protocol.js");

/** Loads what messages are checked with, while a page that will send some is on its way. */
export function expectMessages(): void {
  void protocol();
}

/**
 * What a page sent, in the order in which it was sent; undefined where it is no message. The
 * schemas come with the first page: they are no part of activation.
 */
export async function received(raw: unknown): Promise<FromPanel | undefined> {
  const { parseFromPanel } = await protocol();
  return parseFromPanel(raw);
}
