import type { VNode } from "preact";
import { diffLines, number } from "./format.js";
import { Pre, useFold } from "./parts.js";
import { t } from "./texts.js";

/** Lines of a diff that show before "Show all". */
const FOLDED = 12;
/** Characters of one line that show; the rest is counted, never left out in silence. */
const LINE_CHARS = 2_000;

/** A unified diff. The marks are text, so that colour is not the only difference. */
export function Diff(props: { id: string; diff: string; cut: boolean }): VNode {
  const body = diffLines(props.diff);
  const [all, toggle] = useFold(`diff:${props.id}`, false);
  const shown = all ? body : body.slice(0, FOLDED);
  return (
    <div class="diff">
      <Pre label={t("diff")}>
        {shown.map((line, index) => (
          <div key={index} class={`line ${kindOf(line)}`}>
            {line.length > LINE_CHARS ? (
              <>
                {line.slice(0, LINE_CHARS)}
                <span class="chars-hidden">
                  {t("charsHidden", number(line.length - LINE_CHARS))}
                </span>
              </>
            ) : (
              line || "\u00a0"
            )}
          </div>
        ))}
      </Pre>
      {body.length > FOLDED && (
        <button type="button" class="link" aria-expanded={all} onClick={toggle}>
          {all ? t("showFewer") : t("showAllLines", number(body.length))}
        </button>
      )}
      {props.cut && all && <p class="hint">{t("diffCut")}</p>}
    </div>
  );
}

function kindOf(line: string): string {
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("\\") ? "remark" : "same";
}
