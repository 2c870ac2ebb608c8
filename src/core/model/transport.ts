/** A request as it leaves. */
export interface Outgoing {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal;
}

/** An answer as far as its headers; the body is read once, and left by whoever stops in the middle. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends one request to `url`. Follows no redirect: a key's headers would go to another server.
 * Rejects with the error of the connection.
 */
export type Transport = (url: URL, request: Outgoing) => Promise<Reply>;

/** By `fetch`, which an editor gives its proxy, its certificates and its pool of connections. */
export const byFetch: Transport = async (url, request) => {
  const response = await globalThis.fetch(url, { ...request, redirect: "manual" });
  const { status, headers } = response;
  return { status, headers, body: response.body ?? empty() };
};

async function* empty(): AsyncGenerator<Uint8Array> {}
