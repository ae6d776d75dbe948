// One event of an issue: message, stack, context, and the raw lines it was read from.

import { address } from "./markdown.js";
import stack from "./stack.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, link, number } = ui;
  const stackView = stack(ui);

  /** How the level of an event was found. */
  const LEVEL_SOURCES = {
    line: "written in the line",
    wrapper: "as the log around the line says",
    request: "by the status of the answer",
    trace: "a failure, because an exception or a stack stands in it",
    words: "read from the words of the message",
    none: "none is known, so this is a default",
  };

  const level = (shown) => LEVEL_SOURCES[shown?.level_source] && html`<p class="faint">level: ${LEVEL_SOURCES[shown.level_source]}</p>`;

  const pretty = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  const step = (by, text, walk) => walk.has(by)
    ? html`<button class="button" @click=${() => walk.go(by)}>${text}</button>`
    : html`<span class="button button-off">${text}</span>`;

  const head = ({ issue, subject }, walk) => html`<p class="steps">
    ${walk.total > 1 && html`${step(1, "Older", walk)} ${step(-1, "Newer", walk)}`}
    ${subject && html`<ui-copy text=${`${address(ui, issue.id)}&occurrence=${subject}`} label="Copy event link"></ui-copy>`}</p>`;

  function rawView({ raw, subject, occurrences }, query) {
    if (!subject) return null;
    const shown = occurrences.find(({ id }) => id === subject);
    if (!raw) {
      return html`<p class="toolbar"><a id="raw" class="button" href=${link({ ...query, occurrence: subject, raw: 1 })}>Show raw lines</a>
        <span class="mono faint">${shown && `${shown.path ?? shown.channel} · bytes ${number(shown.byte_start)} to ${number(shown.byte_end)}`}</span></p>`;
    }
    if (raw.problem) return html`<p id="raw" class="notice">${raw.problem}</p>`;
    return html`<figure id="raw" class="raw">
      <figcaption class="mono faint">${raw.path} · bytes ${ui.number(raw.byte_start)} to ${ui.number(raw.byte_end)} · ${raw.encoding}</figcaption>
      <pre tabindex="0" aria-label="Raw lines"><span class="around">${raw.before}</span><mark>${raw.content}</mark><span
        class="around">${raw.after}</span></pre>
      ${raw.truncated && html`<p class="faint">The event is longer than what is shown.</p>`}
      <ui-copy text=${raw.content} label="Copy raw lines"></ui-copy>
    </figure>`;
  }

  /** `walk`: `{ total, has(by), go(by) }`, the way to the events before and after. */
  return function event(data, query, walk) {
    const { issue } = data;
    return html`${head(data, walk)}
      ${level(data.occurrences.find(({ id }) => id === data.subject))}
      ${issue.sample_message !== issue.title && html`<pre class="message" tabindex="0" aria-label="Message">${issue.sample_message}</pre>`}
      ${stackView(data.exceptions, issue.sample_stack, query)}
      ${issue.sample_context && html`<details class="context" open><summary>Context</summary>
        <pre tabindex="0" aria-label="Context">${pretty(issue.sample_context)}</pre></details>`}
      ${rawView(data, query)}`;
  };
};
