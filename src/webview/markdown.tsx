import MarkdownIt, { type Token } from "markdown-it";
import { type ComponentChildren, h, type VNode } from "preact";
import { highlight, type Piece } from "./highlight.js";
import { post } from "./host.js";
import { classify } from "./links.js";
import { Pre } from "./parts.js";
import { t } from "./texts.js";

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false });
// Links are judged by `classify` when they are drawn; here they only have to parse.
parser.validateLink = () => true;

/** Elements a model's text may become; a tag of any other name stays a span. */
const TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong s hr br table thead tbody tr th td".split(" "),
);
/** Text longer than this is shown as it is: parsing it would hold the page up. */
export const MARKDOWN_LONGEST = 60_000;

/**
 * A model's text as elements. No string of HTML is ever made: tokens become nodes one by one, so
 * there is nothing for a model to break out of.
 */
export function Markdown(props: { text: string; session: string; live?: boolean }): VNode {
  const place = { session: props.session, live: props.live === true };
  return <div class="markdown">{draw(parser.parse(props.text, {}), place)}</div>;
}

/** Where a text is drawn; `live`: more of it comes. */
interface Place {
  readonly session: string;
  readonly live: boolean;
}

interface Frame {
  readonly token: Token | undefined;
  readonly children: ComponentChildren[];
}

function draw(tokens: readonly Token[], place: Place): ComponentChildren[] {
  const root: Frame = { token: undefined, children: [] };
  const stack: Frame[] = [root];
  const top = () => stack.at(-1) ?? root;
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const frame = stack.length > 1 ? stack.pop() : undefined;
      if (frame?.token) top().children.push(element(frame.token, frame.children, place.session));
    } else top().children.push(leaf(token, place));
  }
  return root.children;
}

function element(token: Token, children: ComponentChildren[], session: string): ComponentChildren {
  if (token.hidden) return children;
  if (token.type === "link_open") {
    const link = classify(String(token.attrGet("href") ?? ""));
    if (!link) return <span class="dead-link">{children}</span>;
    if (link.kind === "web")
      return (
        <a href={link.href} title={link.href}>
          {children}
        </a>
      );
    return <FileLink session={session} path={link.path} line={link.line} children={children} />;
  }
  const start = token.tag === "ol" ? Number(token.attrGet("start") ?? 1) : undefined;
  return TAGS.has(token.tag) ? (
    h(token.tag, start === undefined ? {} : { start }, children)
  ) : (
    <span>{children}</span>
  );
}

function leaf(token: Token, place: Place): ComponentChildren {
  switch (token.type) {
    case "inline":
      return draw(token.children ?? [], place);
    case "text":
    case "html_inline":
    case "html_block":
      return token.content;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{token.content}</code>;
    case "code_block":
    case "fence":
      return <CodeBlock code={token.content} info={token.info} live={place.live} />;
    case "image":
      // Nothing is loaded from anywhere: an image is its description.
      return (
        <span class="image-left-out">
          [{t("imageLeftOut")}: {token.content}]
        </span>
      );
    default:
      return token.content;
  }
}

/** A path that opens in the editor. The host resolves it: the page only names it. */
export function FileLink(props: {
  session: string;
  path: string;
  line?: number | undefined;
  children: ComponentChildren;
}): VNode {
  const { session, path, line } = props;
  return (
    <button
      type="button"
      class="link"
      onClick={() =>
        post({ type: "openFile", session, path, ...(line === undefined ? {} : { line }) })
      }
    >
      {props.children}
    </button>
  );
}

function CodeBlock(props: { code: string; info: string; live: boolean }): VNode {
  const code = props.code.replace(/\n$/, "");
  const tree = highlight(code, props.info, props.live);
  return (
    <div class="code">
      <button
        type="button"
        class="icon codicon codicon-copy"
        aria-label={t("copy")}
        title={t("copy")}
        onClick={() => void navigator.clipboard.writeText(code)}
      />
      <Pre label={t("code")}>
        <code>{tree ? tree.map(piece) : code}</code>
      </Pre>
    </div>
  );
}

function piece(node: Piece): ComponentChildren {
  if (typeof node === "string") return node;
  const scope = node.scope.split(".")[0] ?? "";
  return <span class={`hl-${scope}`}>{node.children.map(piece)}</span>;
}
