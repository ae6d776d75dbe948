// The column beside an issue: numbers, tags, where it happens, and why its events belong together.

import care from "./care.js";
import { setTag, tagNamed } from "./triage.js";

/** Of all events there ever were. The others are counted over those that are stored. */
const FACETS = { channel: "Channels", source: "Sources" };

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const views = care(ui);

  const pair = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  const summary = (issue) => html`<section class="panel"><h2>Summary</h2><dl class="pairs">
    ${pair("Events", ui.number(issue.count))}
    ${issue.stored_occurrences !== issue.count ? pair("Stored", ui.number(issue.stored_occurrences)) : null}
    ${issue.users > 0 && pair("Users", ui.number(issue.users))}
    ${pair("Last seen", html`<ui-ago at=${issue.last_seen}></ui-ago>`)}
    ${pair("First seen", html`<ui-ago at=${issue.first_seen}></ui-ago>`)}
    ${issue.fixed_at && pair("Fixed", html`<ui-ago at=${issue.fixed_at}></ui-ago>`)}
    ${issue.fixed_release && pair("Fixed in", issue.fixed_release)}
    ${(issue.assigned_to_label ?? issue.assignee) && pair("Assigned to", issue.assigned_to_label ?? issue.assignee)}
    ${pair("Type", issue.log_type)} ${pair("Origin", issue.origin)}
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
    <ul class="facet">${values.map(({ value, count }) => html`<li vars=${{ "--share": `${share(count, values)}%` }}>
      ${value !== "(other)"
        ? html`<a class="mono" href=${ui.link({ source: value, status: "all" })} title="Issues with this value">${value}</a>`
        : html`<span class="mono">${value}</span>`}
      <span class="count">${ui.number(count)}</span></li>`)}</ul></section>`;

  const share = (count, values) => Math.round((100 * count) / Math.max(1, ...values.map((value) => value.count)));

  /** Why events came to one grouping, in words. */
  function reason({ parts }) {
    if (parts.custom) return html`<p>The sender gave these events the same fingerprint: <code>${[parts.custom].flat().join(", ")}</code></p>`;
    if (parts.exceptions?.length) {
      return html`<p>Same exceptions, raised through the same functions of the application. Line numbers, messages and
        library code do not count.</p>`;
    }
    return html`<p>Same message, once the changing parts are left out.</p>`;
  }

  const place = ({ parts }, issue) => html`<p class="faint">Only events ${parts.module
    ? `of the module ${issue.module_name ?? parts.module}` : "without a module"} come here.</p>`;

  const grouping = (row, rows, issue) => html`<li>${reason(row)}
    ${row.learned && html`<p>Learned: ${row.learned.values.map(({ word }) => word).join(", ")} ${row.learned.values.length === 1 ? "is a value" : "are values"} in</p>
      <pre tabindex="0" aria-label="Common template">${row.learned.template}</pre>`}
    ${row.parts.template && html`<pre tabindex="0" aria-label="Template">${row.parts.template}</pre>`}
    ${row.parts.exceptions?.map((exception) => html`<p class="mono">${exception.class}</p>
      <ul class="mono faint key-frames">${exception.frames.map((frame) => html`<li>${frame}</li>`)}</ul>`)}
    ${place(row, issue)}
    <details><summary>Key, ${ui.plural(row.count, "event")}</summary><pre tabindex="0" aria-label="Grouping key">${row.key}</pre></details>
    ${views.takeOut(issue, row, rows)}</li>`;

  const groupings = (rows, issue) => rows.length > 0 && html`<section class="panel"><h2>Why grouped</h2>
    <ul class="groupings">${keyed(rows, ({ id }) => id, (row) => grouping(row, rows, issue))}</ul></section>`;

  /** `affected`: the panel of what the events have in them. */
  return ({ issue, all_tags: all, people, facets, groupings: rows, suggestions }, affected) => html`${summary(issue)} ${affected}
    ${views.care(issue, people)} ${tags(issue, all)} ${Object.keys(FACETS).map((name) => facet(name, facets[name] ?? []))}
    ${groupings(rows, issue)} ${views.joining(issue, suggestions)}`;
};
