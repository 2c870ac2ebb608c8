import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "..", "fixtures", "streams");

/** Names of all recordings, as `openai/plain-text`. */
export function recordingNames(): string[] {
  return ["openai", "anthropic"].flatMap((folder) =>
    readdirSync(join(DIRECTORY, folder))
      .filter((file) => file.endsWith(".http"))
      .map((file) => `${folder}/${file.slice(0, -".http".length)}`),
  );
}

/** A whole HTTP response as recorded, its `{{NAME}}` places filled in. */
export function recording(name: string, fill: Readonly<Record<string, string>> = {}): Buffer {
  let bytes = readFileSync(join(DIRECTORY, `${name}.http`));
  for (const [place, value] of Object.entries(fill)) {
    const text = bytes.toString("utf8").replaceAll(`{{${place}}}`, value);
    bytes = Buffer.from(text, "utf8");
  }
  return bytes;
}

/** Where the body of a recorded response begins. */
export function bodyStart(bytes: Buffer): number {
  return bytes.indexOf("\r\n\r\n") + 4;
}

/** What goes over the socket for one request: pieces, each its own packet, and how it ends. */
export interface Play {
  readonly pieces: readonly Uint8Array[];
  /** `open`: the connection stays, silent. */
  readonly end?: "close" | "open";
  /** Between pieces, in milliseconds; at least one turn of the event loop. */
  readonly every?: number;
}

export interface Player {
  readonly origin: string;
  /** For an OpenAI client. */
  readonly url: string;
  /** Every request, as its bytes. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** A server on 127.0.0.1 that answers each request with what `play` gives for its number. */
export async function playRecordings(play: (n: number) => Play): Promise<Player> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = received.subarray(0, end).toString("latin1");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const n = requests.push(received.subarray(0, end + 4 + length).toString("utf8")) - 1;
      received = Buffer.alloc(0);
      void send(socket, play(n));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    url: `${origin}/v1`,
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function send(socket: Socket, { pieces, end, every }: Play): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await new Promise<void>((resolve) =>
      every === undefined ? setImmediate(resolve) : setTimeout(resolve, every),
    );
  }
  if (end !== "open") socket.end();
}
