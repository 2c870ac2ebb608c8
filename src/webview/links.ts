/** Where a link of the model's may lead: the web, or a file of the workspace. */
export type Link =
  | { readonly kind: "web"; readonly href: string }
  | { readonly kind: "file"; readonly path: string; readonly line?: number };

/**
 * What a click on a link may do, or undefined where it stays text. Only http(s), mailto and paths
 * pass: a `command:`, `javascript:`, `data:` or `vscode:` link would act.
 */
export function classify(href: string): Link | undefined {
  const trimmed = href.trim();
  // Browsers leave control characters out of a scheme, so "java\nscript:" is one.
  if (trimmed === "" || /[\u0000-\u001f\u007f]/.test(trimmed)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https" || scheme === "mailto")
    return { kind: "web", href: trimmed };
  // `src/a.ts:12` looks like a scheme to nobody but the pattern above; a scheme has no dot or digit after the colon alone.
  const path = /^([^:#?]+?)(?::(\d{1,8})(?::\d{1,8})?|#L(\d{1,8}).*)?$/.exec(trimmed);
  if (!path?.[1] || trimmed.startsWith("//") || trimmed.startsWith("\\")) return undefined;
  const line = Number(path[2] ?? path[3] ?? 0);
  let decoded = path[1];
  try {
    decoded = decodeURIComponent(decoded);
  } catch {
    // A lone "%" is part of the name.
  }
  if (/[\u0000-\u001f\u007f]/.test(decoded)) return undefined;
  return line > 0 ? { kind: "file", path: decoded, line } : { kind: "file", path: decoded };
}
