// One row of the list.

import parts from "./parts.js";
import { done, plainTitle, STATUSES } from "./words.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, memory) => {
  const { html } = ui;
  const { badge, chips, silence } = parts(ui);

  /** First seen in the chosen range, or since the person was here last. */
  function isNew(issue, scoped) {
    if (issue.origin !== "ingested") return false;
    if (scoped) return issue.count === issue.count_total;
    const before = memory.lastVisit();
    return before !== null && +ui.moment(issue.created_at) > before;
  }

  const mark = (scoped) => html`<b class="new" title=${scoped ? "First seen in this time range" : "New since your last visit"}>New</b>`;

  /** `state`: `{ at, scoped, cursor, chosen, choose(on, range) }`. */
  return function row(issue, { scoped, cursor, chosen, choose }) {
    const classes = ["row", done(issue) && "row-done", cursor && "row-cursor", chosen && "row-chosen"];
    const facts = [issue.exception_class && issue.source_frame, issue.channel, issue.module_name].filter(Boolean);
    const person = issue.assigned_to_label ?? issue.assignee;
    return html`<li class=${classes.filter(Boolean).join(" ")} data-level=${issue.severity} data-id=${issue.id}>
      <label class="row-choice"><input type="checkbox" aria-label=${`Choose issue ${issue.id}`}
        .checked=${chosen} @click=${(event) => choose(event.target.checked, event.shiftKey)} /></label>
      <div class="row-text">
        <a class="row-title" href=${ui.link({ view: "issue", id: issue.id })}>
          ${isNew(issue, scoped) && mark(scoped)} ${issue.exception_class && html`<b class="mono">${issue.exception_class}</b>`} ${plainTitle(issue)}</a>
        <p class="row-facts">${badge(issue.severity)} ${person && html`<span class="fact">${person}</span>`} ${silence(issue)}
          ${facts.map((text) => html`<span class="mono fact">${text}</span>`)} ${chips(issue.tags)}</p>
      </div>
      ${ui.slot("issues.columns", issue)}
      <ui-bars class="spark" values=${issue.sparkline.join()} label="Events per hour, 24 hours"></ui-bars>
      <span class="row-count" title=${ui.plural(issue.count, "event")}>${ui.number(issue.count)}</span>
      <span class="row-status" data-status=${issue.status}>${STATUSES[issue.status]}</span>
      <span class="row-age"><ui-ago at=${issue.last_seen}></ui-ago></span>
    </li>`;
  };
};
