import { Console } from "node:console";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** How long answers to what was asked may take once the client has ended its side. */
const LINGER_MS = 2_000;

/**
 * Takes stdout for the protocol alone: whatever a library prints goes to stderr from here on.
 * The stream's `write` resolves when the bytes have left, so that a slow reader slows the writer.
 */
export function takeStdout(): { output: WritableStream<Uint8Array>; failed: Promise<Error> } {
  const write = process.stdout.write.bind(process.stdout);
  globalThis.console = new Console(process.stderr, process.stderr);
  // A stray line between two messages would end the conversation, so nothing else gets through.
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const failed = new Promise<Error>((resolve) => process.stdout.once("error", resolve));
  const output = new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
  return { output, failed };
}

/** stdin as bytes; ends when the client goes away. */
export function openStdin(): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let over = false;
      const end = (): void => {
        if (over) return;
        over = true;
        controller.close();
      };
      process.stdin.on("data", (chunk: Buffer) => {
        if (over) return;
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if ((controller.desiredSize ?? 1) <= 0) process.stdin.pause();
      });
      // A reset pipe is a client that went away, as an end is.
      process.stdin.once("error", end);
      process.stdin.once("end", end);
      process.stdin.once("close", end);
    },
    pull() {
      process.stdin.resume();
    },
    cancel() {
      process.stdin.destroy();
    },
  });
}

/**
 * Holds the end of input back until what was asked before it is answered, so that a script that
 * writes its requests and closes the pipe still reads the answers. A prompt is not waited for:
 * its client is gone.
 */
export function lingering(stream: Stream): Stream {
  const open = new Set<unknown>();
  let idle = (): void => {};
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  return {
    readable: new ReadableStream<AnyMessage>({
      async pull(controller) {
        const { value, done } = await reader.read();
        if (!done) {
          if ("method" in value && "id" in value && value.method !== "session/prompt") {
            open.add(value.id);
          }
          controller.enqueue(value);
          return;
        }
        if (open.size > 0) {
          await new Promise<void>((resolve) => {
            idle = resolve;
            setTimeout(resolve, LINGER_MS).unref();
          });
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    }),
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        await writer.write(message);
        if ("method" in message || !("id" in message)) return;
        open.delete(message.id);
        if (open.size === 0) idle();
      },
    }),
  };
}
