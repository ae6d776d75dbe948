// One event of an issue: message, stack, context, and the raw lines it was read from.

import { address } from "./markdown.js";
import stack from "./stack.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow, message) => {
  const { html, link } = ui;
  const stackView = stack(ui);

  /** How the level of an event was found. */
  const LEVEL_SOURCES = {
    line: "from the log line",
    wrapper: "from the log that wraps the line",
    request: "from the status of the response",
    trace: "error, because the line holds an exception or a stack",
    words: "guessed from the text of the message",
    none: "not known, so this is a default",
  };

  const level = (shown) => LEVEL_SOURCES[shown?.level_source] && html`<p class="faint">Level: ${LEVEL_SOURCES[shown.level_source]}</p>`;

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

  /** Where an event stands in its log, as text; pushed ones stand in none. */
  const position = ({ log_type: type, path, channel, byte_start: start }) => (type === "http" ? channel : `${path} @${start}`);

  const head = ({ issue, subject, shown }, walk) => html`<p class="steps">
    ${issue.stored_occurrences > 1 && html`${step(1, "Older", walk)} ${step(-1, "Newer", walk)}`}
    ${shown && shown.log_type !== "http" && html`<a class="button" href=${link({ view: "source", id: shown.source_id, mark: shown.byte_start })}>Open in the log</a>`}
    ${subject && html`<ui-copy text=${`${address(ui, issue.id)}&occurrence=${subject}`} label="Copy event link"></ui-copy>`}</p>`;

  /** What is known of the event beside its text; a click narrows to the events that have it, too. */
  const about = (shown) => html`<p class="row-facts"><span>${ui.clock(shown.occurred_at, "exact")}</span>
    ${[["user", shown.user], ["host", shown.server_name], ["release", shown.release], ["environment", shown.environment]].filter(([, value]) => value)
      .map(([name, value]) => html`<span>${name} ${narrow.only(name, "event", value, html`<span class="mono">${value}</span>`)}</span>`)}</p>`;

  /** The text of the event. Where it is the title, it is shown for its values, unless an exception says it once more. */
  function text({ issue, shown, exceptions }) {
    const { sample_message: whole, title } = issue;
    const known = shown?.message === whole;
    const again = () => exceptions.some(({ message: said }) => said && whole.includes(said));
    if (whole === title && (!known || !shown.values.length || again())) return null;
    return html`<pre class="message" tabindex="0" aria-label="Message">${known ? message(shown) : whole}</pre>`;
  }

  function rawView({ raw, subject, shown }, query) {
    if (!subject) return null;
    if (!raw) {
      return html`<p class="toolbar"><a id="raw" class="button" href=${link({ ...query, occurrence: subject, raw: 1 })}>Show raw lines</a>
        <span class="mono faint">${shown && position(shown)}</span></p>`;
    }
    if (raw.problem) return html`<p id="raw" class="notice">${raw.problem}</p>`;
    return html`<figure id="raw" class="raw">
      <figcaption class="mono faint">${raw.path} @${raw.byte_start} · ${raw.encoding}</figcaption>
      <pre tabindex="0" aria-label="Raw lines"><span class="around">${raw.before}</span><mark>${raw.content}</mark><span
        class="around">${raw.after}</span></pre>
      ${raw.truncated && html`<p class="faint">The event is longer than what is shown.</p>`}
      <ui-copy text=${raw.content} label="Copy raw lines"></ui-copy>
    </figure>`;
  }

  /** `walk`: `{ has(by), go(by) }`, the way to the events before and after. */
  return function event(data, query, walk) {
    const { issue, shown } = data;
    return html`${head(data, walk)}
      ${shown && about(shown)} ${level(shown)} ${text(data)}
      ${stackView(data.exceptions, issue.sample_stack, query)}
      ${issue.sample_context && html`<details class="context" open><summary>Context</summary>
        <pre tabindex="0" aria-label="Context">${pretty(issue.sample_context)}</pre></details>`}
      ${rawView(data, query)}`;
  };
};
