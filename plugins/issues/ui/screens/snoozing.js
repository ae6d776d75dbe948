// Who works on an issue, and until when its alerts are silent.

import { assign, snooze } from "./triage.js";
import { SNOOZES } from "../search.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const subject = (issue) => ({ issues: [issue] });

  /** A list and a button: moving through the list does nothing yet. */
  const choice = ({ id, label, value, options, action, run }) => html`<form class="toolbar choice" @submit=${(event) => {
    event.preventDefault();
    run(event.target.elements.choice.value);
  }}>
    <select id=${id} name="choice" aria-label=${label} .value=${value}>
      ${keyed(options, ([name]) => name, ([name, text]) => html`<option value=${name}>${text}</option>`)}</select>
    <button class="button">${action}</button></form>`;

  function assignee(issue, people) {
    // Somebody who cannot be chosen any more stays visible.
    const known = people.some(({ id }) => id === issue.assigned_to_id);
    const all = issue.assigned_to_id && !known ? [...people, { id: issue.assigned_to_id, label: issue.assigned_to_label }] : people;
    return people.length > 0 && html`<section class="panel"><h2>Assignee</h2>
      <p>${issue.assigned_to_label ? html`<b>${issue.assigned_to_label}</b>` : html`<span class="faint">Nobody yet</span>`}</p>
      ${choice({ id: "assignee", label: "Assign to", value: issue.assigned_to_id ?? "", action: "Assign",
        options: [["", "Nobody"], ...all.map(({ id, label }) => [id, label])],
        run: (chosen) => assign(ui, subject(issue), people.find(({ id }) => id === chosen) ?? null) })}</section>`;
  }

  function silence(issue) {
    const { snoozed_until: until, snooze_count: events } = issue;
    if (!until && !events) {
      return choice({ id: "snooze", label: "Snooze alerts", value: "0", action: "Snooze",
        options: SNOOZES.map(({ label }, at) => [String(at), label]), run: (at) => snooze(ui, subject(issue), SNOOZES[at]) });
    }
    return html`<p>Alerts are silent ${until ? `until ${ui.clock(until)} ${ui.zone()}` : `for ${ui.plural(events, "more event")}`}.</p>
      <p><button class="button" id="snooze" @click=${() => snooze(ui, subject(issue), null)}>End the snooze</button></p>`;
  }

  const alerts = (issue) => html`<section class="panel"><h2>Snooze alerts</h2>${silence(issue)}</section>`;

  return { alerts, assignee };
};
