import { open, rename, rm } from "node:fs/promises";
import { whileBusy } from "../whileBusy.js";

/**
 * Makes `path` appear with all of `content`, in place of what is there, by way of `temporary`, a name
 * beside it that nobody else uses. With `flush` the bytes are on the disk before the name is.
 * Rejects with the error of the disk; then `path` is what it was and `temporary` is gone.
 */
export async function writeWhole(
  path: string,
  temporary: string,
  content: string | Uint8Array,
  options: { readonly flush: boolean },
): Promise<void> {
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      await handle.writeFile(content);
      if (options.flush) await handle.sync();
    } finally {
      await handle.close();
    }
    await whileBusy(() => rename(temporary, path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
