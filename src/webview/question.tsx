import type { VNode } from "preact";
import { noteOf, post } from "./host.js";
import type { QuestionItem } from "./items.js";
import { Icon, useNote } from "./parts.js";
import { t } from "./texts.js";

/** A question of the agent's: its options as buttons, and a field for words of one's own. */
export function Question(props: { item: QuestionItem; session: string; open: boolean }): VNode {
  const { event, answer } = props.item;
  const [text, setText] = useNote(event.question);
  const send = (given: string) => {
    setText("");
    post({
      type: "answerQuestion",
      session: props.session,
      question: event.question,
      text: given,
    });
  };
  return (
    <article class="message question" aria-label={t("question")} tabIndex={-1}>
      <h2>
        <Icon name="question" /> {t("question")}
      </h2>
      <div class="plain">{event.text}</div>
      {answer !== undefined && (
        <p>
          <strong>{t("yourAnswer")}:</strong> <bdi>{answer}</bdi>
        </p>
      )}
      {props.open && answer === undefined && (
        <form
          class="buttons"
          onSubmit={(submit) => {
            submit.preventDefault();
            const typed = noteOf(event.question);
            if (typed.trim() !== "") send(typed);
          }}
        >
          {(event.options ?? []).map((option, index) => (
            <button key={index} type="button" class="secondary option" onClick={() => send(option)}>
              {option}
            </button>
          ))}
          <input
            type="text"
            class="reason"
            aria-label={t("yourAnswer")}
            placeholder={t("yourAnswer")}
            value={text}
            onInput={(input) => setText(input.currentTarget.value)}
          />
          <button type="submit" class="primary">
            {t("answer")}
          </button>
        </form>
      )}
    </article>
  );
}
