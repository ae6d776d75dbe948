// The bar over the list while issues are chosen: one action on all of them.

import { lines } from "./markdown.js";
import { merge } from "./merging.js";
import { assign, count, remove, setStatus, snooze, tagAll, tagNamed } from "./triage.js";
import { SNOOZES, STATUSES } from "../search.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;

  /** A select whose choice acts at once and that then shows its first line again. */
  const choice = (label, options, run) => html`<select aria-label=${`${label} of the chosen issues`} @change=${(event) => {
    const { value } = event.target;
    event.target.value = "";
    if (value) run(value);
  }}>
    <option value="">${label} …</option>
    ${keyed(options, ([id]) => id, ([id, text]) => html`<option value=${id}>${text}</option>`)}
  </select>`;

  async function addTag(event, subject, tags, clear) {
    event.preventDefault();
    const field = event.target.elements.tag;
    const name = field.value.trim();
    if (!name) return;
    try {
      const tag = await tagNamed(ui, tags, name);
      field.value = "";
      if (await tagAll(ui, subject, tag, "add")) clear();
    } catch (error) {
      ui.toast(`Tag not added: ${error.message}`, { error: true });
    }
  }

  const tagging = (subject, tags, clear) => html`<form class="toolbar" @submit=${(event) => addTag(event, subject, tags, clear)}>
    <input name="tag" list="bulk-tags" aria-label="Tag for the chosen issues" placeholder="Add a tag" maxlength="80" autocomplete="off" />
    <datalist id="bulk-tags">${keyed(tags, ({ id }) => id, ({ name }) => html`<option value=${name}></option>`)}</datalist>
    <button class="button">Add</button>
  </form>`;

  /** The tags that can go: those of the chosen rows, or all when more is chosen than is on the screen. */
  function untagging(subject, tags, clear) {
    const worn = new Set(subject.issues.flatMap((issue) => issue.tags.map(({ id }) => id)));
    const options = tags.filter(({ id }) => subject.filter || worn.has(id)).map(({ id, name }) => [String(id), name]);
    return options.length > 0 && choice("Remove tag", options, async (value) => {
      if (await tagAll(ui, subject, tags.find(({ id }) => String(id) === value), "remove")) clear();
    });
  }

  function assigning(subject, people, clear) {
    const options = [["-", "Nobody"], ...people.map(({ id, label }) => [`+${id}`, label])];
    return choice("Set assignee", options, async (value) => {
      const person = people.find(({ id }) => `+${id}` === value) ?? null;
      if (await assign(ui, subject, person)) clear();
    });
  }

  /** Into which one; only issues that came from events can be merged. */
  function merging({ issues }, clear) {
    if (issues.some(({ origin }) => origin !== "ingested")) return null;
    const options = issues.map(({ id, title }) => [String(id), `Into ${id}: ${title}`]);
    return choice("Merge", options, async (value) => {
      const target = issues.find(({ id }) => String(id) === value);
      const others = issues.filter((issue) => issue !== target).map(({ id }) => id);
      if (await merge(ui, others, target.id)) clear();
    });
  }

  const snoozing = (subject, clear) => choice("Snooze alerts", [...SNOOZES.map(({ label }, at) => [String(at), label]), ["-", "Wake"]],
    async (value) => (await snooze(ui, subject, SNOOZES[value] ?? null)) && clear());

  /** `more`: chooses all that match, or null when they are chosen already or on the screen. */
  return ({ subject, tags, people, more, clear }) => html`<div class="bulk" role="region" aria-label="Chosen issues">
    <b>${ui.plural(count(subject), "issue")} chosen</b>
    ${more && html`<button class="button button-plain" @click=${more.run}>${more.label}</button>`}
    ${choice("Set status", Object.entries(STATUSES), async (status) => (await setStatus(ui, subject, status)) && clear())}
    ${tagging(subject, tags, clear)} ${untagging(subject, tags, clear)}
    ${people.length > 0 && assigning(subject, people, clear)}
    ${snoozing(subject, clear)}
    ${!subject.filter && subject.issues.length > 1 && merging(subject, clear)}
    ${!subject.filter && html`<ui-copy text=${lines(ui, subject.issues)} label="Copy as Markdown"></ui-copy>`}
    ${ui.actions("issues.bulk").map((action) => html`<button class="button" @click=${() => action.run(subject.issues)}>${action.label}</button>`)}
    <button class="button" @click=${async () => (await remove(ui, subject)) && clear()}>Delete …</button>
    <button class="button button-plain" @click=${clear}>Clear</button>
  </div>`;
};
