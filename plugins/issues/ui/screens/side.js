// The column beside an issue: who works on it, tags, where it happens, and why its events belong together.

import merging from "./merging.js";
import snoozing from "./snoozing.js";
import { setTag, tagNamed } from "./triage.js";

/** Of all events there ever were. The others are counted over those that are stored. */
const FACETS = { channel: "Channels", source: "Sources" };

/**
 * `anew` loads the page for what its events are by now: the one that is shown may have left.
 * @param {import("../../../../schemas/dashboard.d.ts").Ui} ui
 * @param {() => Promise<void>} anew
 */
export default (ui, anew) => {
  const { html, keyed } = ui;
  const { alerts, assignee } = snoozing(ui);
  const { groupings, joining } = merging({ ...ui, reload: anew });

  const pair = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  const ORIGINS = { ingested: "Logs and events", manual: "Entered manually", tracker: "Tracker" };

  const details = (issue) => html`<section class="panel"><h2>Details</h2><dl class="pairs">
    ${issue.stored_occurrences !== issue.count && pair("Events kept", ui.number(issue.stored_occurrences))}
    ${issue.fixed_at && pair("Fixed", html`<ui-ago at=${issue.fixed_at}></ui-ago>`)}
    ${issue.fixed_release && pair("Fixed in", issue.fixed_release)}
    ${issue.assignee && pair("Assigned in the tracker", issue.assignee)}
    ${pair("Log type", issue.log_type)} ${pair("Origin", ORIGINS[issue.origin] ?? issue.origin)}
  </dl></section>`;

  async function add(event, issue, tags) {
    event.preventDefault();
    const field = event.target.elements.tag;
    const name = field.value.trim();
    if (!name) return;
    field.value = "";
    try {
      await setTag(ui, issue, await tagNamed(ui, tags, name), "add");
    } catch (error) {
      ui.toast(`Tag not added: ${error.message}`, { error: true });
    }
  }

  const tags = (issue, all) => html`<section class="panel"><h2>Tags</h2>
    <ul class="tags">${keyed(issue.tags, ({ id }) => id, (tag) => html`<li class="chip" vars=${{ "--tag": tag.color }}>${tag.name}
      <button class="button button-plain" aria-label=${`Remove tag ${tag.name}`} @click=${() => setTag(ui, issue, tag, "remove")}>
        <ui-icon name="close"></ui-icon></button></li>`)}</ul>
    <form class="toolbar" @submit=${(event) => add(event, issue, all)}>
      <input id="new-tag" name="tag" list="all-tags" aria-label="Add a tag" placeholder="Add a tag" maxlength="80" autocomplete="off" />
      <datalist id="all-tags">${keyed(all, ({ id }) => id, ({ name }) => html`<option value=${name}></option>`)}</datalist>
      <button class="button">Add</button>
    </form></section>`;

  const facet = (name, values) => values.length > 0 && html`<section class="panel"><h2>${FACETS[name]}</h2>
    <ul class="shares">${values.map(({ value, count }) => html`<li vars=${{ "--share": `${share(count, values)}%` }}>
      ${value !== "(other)"
        ? html`<a class="mono" href=${ui.link({ source: value, status: "all" })} title="Issues with this value">${value}</a>`
        : html`<span class="mono">${value}</span>`}
      <span class="count">${ui.number(count)}</span></li>`)}</ul></section>`;

  const share = (count, values) => Math.round((100 * count) / Math.max(1, ...values.map((value) => value.count)));

  /** `affected`: the panel of what the events have in them. */
  return ({ issue, all_tags: all, people, facets, groupings: rows, suggestions }, affected) => html`${assignee(issue, people)} ${affected}
    ${tags(issue, all)} ${alerts(issue)} ${details(issue)} ${Object.keys(FACETS).map((name) => facet(name, facets[name] ?? []))}
    ${groupings(rows, issue)} ${joining(issue, suggestions)}`;
};
