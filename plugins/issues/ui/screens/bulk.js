// The bar over the list while issues are selected: one action on all of them.

import { lines } from "./markdown.js";
import { merge } from "./merging.js";
import pickerOf from "./picker.js";
import { assign, count, remove, setStatus, snooze, tagAll, tagNamed } from "./triage.js";
import { SNOOZES } from "../search.js";

/** The statuses that people set, and what the button for it says. */
const SET = [["open", "Reopen"], ["in_progress", "In progress"], ["fixed", "Fixed"], ["wont_fix", "Won't fix"]];

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const tagPicker = pickerOf(ui, "tag");
  const personPicker = pickerOf(ui, "person");

  /** Do something, after a question when more than the page is meant; what is selected goes when it is done. */
  async function sure(subject, question, action, work, clear, text = "") {
    if (!subject.filter) return void ((await work()) && clear());
    await ui.ask({
      title: `${question}?`,
      text: `These are all issues that match the filters, not only those on this page. ${text}`,
      fields: [],
      action,
      save: async () => {
        if (await work()) clear();
      },
    });
  }

  const issuesOf = (subject) => ui.plural(count(subject), "issue");

  const statuses = (subject, clear) => html`<span class="joined" role="group" aria-label="Set status">${SET.map(([status, label]) => html`<button class="button" type="button"
    @click=${() => sure(subject, status === "open" ? `Reopen ${issuesOf(subject)}` : `Set ${issuesOf(subject)} to ${label}`, status === "open" ? label : `Set to ${label}`,
      () => setStatus(ui, subject, status), clear, "It can be undone.")}>${label}</button>`)}</span>`;

  function tagging(subject, tags, clear) {
    const tag = (one, action) => sure(subject, action === "add" ? `Tag ${issuesOf(subject)} ${one.name}` : `Remove the tag ${one.name} from ${issuesOf(subject)}`,
      action === "add" ? "Tag" : "Remove", () => tagAll(ui, subject, one, action), clear);
    async function make(name) {
      try {
        await tag(await tagNamed(ui, tags, name), "add");
      } catch (error) {
        ui.toast(`Tag not added: ${error.message}`, { error: true });
      }
    }
    // The tags that can go: those of the selected rows, or all when more is selected than is on the screen.
    const worn = new Set(subject.issues.flatMap((issue) => issue.tags.map(({ id }) => id)));
    const options = [
      ...tags.map((one) => ({ label: one.name, run: () => tag(one, "add") })),
      ...tags.filter(({ id }) => subject.filter || worn.has(id)).map((one) => ({ label: `Remove ${one.name}`, run: () => tag(one, "remove") })),
    ];
    return tagPicker({ label: "Tag", field: "Tag for the selected issues", options, make: (name) => ({ label: `New tag “${name}”`, run: () => make(name) }) });
  }

  function assigning(subject, people, clear) {
    const to = (person) => sure(subject, `Assign ${issuesOf(subject)} to ${person?.label ?? "nobody"}`, "Assign", () => assign(ui, subject, person), clear);
    const options = [...people.map((person) => ({ label: person.label, run: () => to(person) })), { label: "Nobody", run: () => to(null) }];
    return personPicker({ label: "Assign", field: "Person for the selected issues", options });
  }

  function snoozing(subject, clear) {
    const set = (wanted, question, action) => () => sure(subject, question, action, () => snooze(ui, subject, wanted), clear);
    const items = [
      ...SNOOZES.map((one) => ({ label: one.label[0].toUpperCase() + one.label.slice(1), run: set(one, `Snooze alerts of ${issuesOf(subject)} ${one.label}`, "Snooze") })),
      { label: "End the snooze", run: set(null, `End the snooze of ${issuesOf(subject)}`, "End the snooze") },
    ];
    return ui.menu("Snooze alerts of the selected issues", items, { text: "Snooze" });
  }

  /** Which of the selected issues stays; only issues that came from events can be merged. */
  function merging({ issues }, clear) {
    const choose = (target) => merge(ui, issues.filter((issue) => issue !== target).map(({ id }) => id), target.id);
    return async () => {
      let target = null;
      await ui.dialog("Merge: which issue stays?", (close) => html`<p>The events of the others move into it.</p>
        <ul class="choices">${keyed(issues, ({ id }) => id, (issue) => html`<li><button class="button" type="button" @click=${() => { target = issue; close(); }}>
          <span>${issue.title}</span> <span class="count">${issue.id} · ${ui.plural(issue.count, "event")}</span></button></li>`)}</ul>
        <div class="actions"><button class="button" type="button" @click=${close}>Cancel</button></div>`);
      if (target && (await choose(target))) clear();
    };
  }

  async function copy(issues) {
    try {
      await ui.copy(lines(ui, issues));
      ui.toast(`${ui.plural(issues.length, "issue")} copied as Markdown`);
    } catch (error) {
      ui.toast(`Not copied: ${error.message}`, { error: true });
    }
  }

  function more(subject, clear) {
    const { issues, filter } = subject;
    const mergeable = !filter && issues.length > 1 && issues.every(({ origin }) => origin === "ingested");
    return ui.menu("More actions on the selected issues", [
      mergeable && { label: "Merge …", run: merging(subject, clear) },
      !filter && { label: "Copy as Markdown", run: () => copy(issues) },
      ...ui.actions("issues.bulk").map((action) => ({ label: action.label, run: () => action.run(issues) })),
      { label: "Delete …", danger: true, run: async () => (await remove(ui, subject)) && clear() },
    ], { text: "More" });
  }

  /** `more`: selects all that match, or null when they are selected already or on the screen. */
  return ({ subject, tags, people, more: rest, clear }) => html`<div class="bulk" role="region" aria-label="Selected issues">
    <b>${ui.number(count(subject))} selected</b>
    ${rest && html`<button class="button button-plain" @click=${rest.run}>${rest.label}</button>`}
    ${statuses(subject, clear)} ${tagging(subject, tags, clear)} ${people.length > 0 && assigning(subject, people, clear)}
    ${snoozing(subject, clear)} ${more(subject, clear)}
    <button class="button button-plain bulk-clear" type="button" title="Clear selection (Esc)" @click=${clear}><ui-icon name="close"></ui-icon> Clear</button>
  </div>`;
};
