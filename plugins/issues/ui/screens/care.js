// Who looks after an issue, until when it is silent, and which issues are one.

import { assign, merge, snooze, unmerge } from "./triage.js";
import { SNOOZES } from "../search.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const subject = (issue) => ({ issues: [issue] });

  function assignee(issue, people) {
    // Somebody who cannot be chosen any more stays visible.
    const known = people.some(({ id }) => id === issue.assigned_to_id);
    const all = issue.assigned_to_id && !known ? [...people, { id: issue.assigned_to_id, label: issue.assigned_to_label }] : people;
    const set = ({ target }) => assign(ui, subject(issue), people.find(({ id }) => id === target.value) ?? null);
    return html`<label class="field">Assigned to
      <select .value=${issue.assigned_to_id ?? ""} @change=${set}>
        ${keyed([{ id: "", label: "Nobody" }, ...all], ({ id }) => id, ({ id, label }) => html`<option value=${id}>${label}</option>`)}
      </select></label>`;
  }

  function silence(issue) {
    const { snoozed_until: until, snooze_count: events } = issue;
    if (until || events) {
      const how = until ? `until ${ui.clock(until)}` : `for ${ui.plural(events, "more event")}`;
      return html`<p>Alerts are silent ${how}.
        <button class="button" @click=${() => snooze(ui, subject(issue), null)}>Wake</button></p>`;
    }
    const set = ({ target }) => snooze(ui, subject(issue), SNOOZES[target.value]);
    return html`<label class="field">Snooze alerts
      <select id="snooze" .value=${""} @change=${set}>
        <option value="">Not snoozed</option>
        ${SNOOZES.map(({ label }, at) => html`<option value=${at}>${label}</option>`)}
      </select></label>`;
  }

  const care = (issue, people) => html`<section class="panel"><h2>Care</h2>
    ${people.length > 0 && assignee(issue, people)} ${silence(issue)}</section>`;

  function submit(event, issue) {
    event.preventDefault();
    const field = event.target.elements.other;
    const other = Number(field.value);
    field.value = "";
    merge(ui, [other], issue.id);
  }

  const suggestion = (issue, row) => html`<li><a href=${ui.link({ view: "issue", id: row.issue_id })}>Issue ${row.issue_id}</a>
    <pre tabindex="0" aria-label="Template in common">${row.template}</pre>
    <button class="button" @click=${() => merge(ui, [row.issue_id], issue.id)}>Merge ${row.issue_id} into this one …</button></li>`;

  const joining = (issue, suggestions) => issue.origin === "ingested" && html`<section class="panel"><h2>Same problem?</h2>
    ${suggestions.length > 0 && html`<p>These may be the same: their messages differ in one value only.</p>
      <ul class="groupings">${keyed(suggestions, (row) => row.issue_id, (row) => suggestion(issue, row))}</ul>`}
    <form class="toolbar" @submit=${(event) => submit(event, issue)}>
      <input name="other" type="number" min="1" required aria-label="Number of the issue to merge into this one" placeholder="Number" />
      <button class="button">Merge into this one …</button>
    </form></section>`;

  /** The way out of an issue for one of its groupings; the last one stays. */
  const takeOut = (issue, grouping, groupings) => groupings.length > 1 && html`<p class="faint">Taken out, its
      ${ui.plural(grouping.count, "event")} and all that follow make a new open issue with the same tags.</p>
    <p><button class="button" @click=${() => unmerge(ui, issue, grouping)}>Take out into an issue of its own</button></p>`;

  return { care, joining, takeOut };
};
