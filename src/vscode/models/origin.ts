/** The origin of a base URL: what a key is for. Undefined where it is no URL. */
export function originOf(baseUrl: string): string | undefined {
  try {
    return new URL(baseUrl).origin;
  } catch {
    return undefined;
  }
}
