import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { fenced } from "./show.js";

/** What a client's prompt says to the model, or why it cannot be said. */
export type PromptText = { readonly text: string } | { readonly unfit: string };

/**
 * A prompt as one text. A linked file is named and not read: the model reads it through its
 * tools, under the path rules. An embedded text comes along as the client gave it.
 */
export function promptText(blocks: readonly ContentBlock[]): PromptText {
  const parts: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        parts.push(block.text);
        break;
      case "resource_link":
        parts.push(mention(block.uri));
        break;
      case "resource":
        if ("text" in block.resource) {
          parts.push(`\n${mention(block.resource.uri)}:\n${fenced(block.resource.text)}\n`);
        } else {
          parts.push(mention(block.resource.uri));
        }
        break;
      case "image":
      case "audio":
        return { unfit: `this agent takes text and links in a prompt, not ${block.type}` };
    }
  }
  const text = parts.join("").trim();
  return text === "" ? { unfit: "the prompt is empty" } : { text };
}

/** A file by its path, as a person would write it; anything else by its address. */
function mention(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    const url = new URL(uri);
    const lines = /^#L\d+(?:[-:]L?\d+)?$/.test(url.hash) ? url.hash : "";
    url.hash = "";
    url.search = "";
    return fileURLToPath(url) + lines;
  } catch {
    return uri;
  }
}
