import type { LanguageFn } from "highlight.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages: Readonly<Record<string, LanguageFn>> = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
const aliases: Readonly<Record<string, string>> = {
  cjs: "javascript",
  console: "bash",
  golang: "go",
  html: "xml",
  js: "javascript",
  jsonc: "json",
  jsx: "javascript",
  md: "markdown",
  mjs: "javascript",
  py: "python",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  ts: "typescript",
  tsx: "typescript",
  yml: "yaml",
  zsh: "bash",
};

/** Code longer than this stays plain, so that no block holds the page up. */
const LONGEST = 10_000;
/** The same for code that still comes, which is drawn anew with every piece of it. */
const LONGEST_LIVE = 2_000;

/** A piece of highlighted code: text, or a scope with pieces in it. */
export type Piece = string | { readonly scope: string; readonly children: readonly Piece[] };

/** Highlighted code as a tree, or undefined where the language is none of ours. A grammar is set up when first used. */
export function highlight(code: string, info: string, live: boolean): readonly Piece[] | undefined {
  const name =
    info
      .trim()
      .split(/[\s,{]/)[0]
      ?.toLowerCase() ?? "";
  const language = aliases[name] ?? name;
  const grammar = Object.hasOwn(languages, language) ? languages[language] : undefined;
  if (!grammar || code.length > (live ? LONGEST_LIVE : LONGEST)) return undefined;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, grammar);
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  return pieces(Reflect.get(result._emitter, "rootNode"));
}

/** The emitter's tree, read with care: its shape is not part of the library's promises. */
function pieces(node: unknown): Piece[] {
  const children: unknown =
    typeof node === "object" && node !== null ? Reflect.get(node, "children") : undefined;
  if (!Array.isArray(children)) return [];
  return children.map((child: unknown): Piece => {
    if (typeof child === "string") return child;
    const scope: unknown =
      typeof child === "object" && child !== null ? Reflect.get(child, "scope") : undefined;
    return { scope: typeof scope === "string" ? scope : "", children: pieces(child) };
  });
}
