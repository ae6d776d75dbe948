// The head of the page of an issue: what it is, how bad, how often, since when, and what was done last.

import { parts, place } from "../row.js";
import { plainTitle, STATUSES } from "../search.js";
import { address, whole } from "./markdown.js";
import { remove } from "./triage.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, history) => {
  const { html } = ui;
  const { chips, silence } = parts(ui);

  /** The issue before or after one in the list that the person came from. */
  const neighbour = (id, by) => (place.ids.includes(id) ? place.ids[place.ids.indexOf(id) + by] : undefined);

  const step = (id, by, text) => neighbour(id, by) && html`<a href=${ui.link({ view: "issue", id: neighbour(id, by) })}>${text}</a>`;

  const crumbs = (issue, query) => html`<div class="crumbs crumbs-issue"><p><a href=${ui.link(place.list)}>Issues</a> / ${issue.id}
      ${Number(query.id) !== issue.id && html`<span> · issue ${query.id} is a part of this one</span>`}</p>
    ${(neighbour(issue.id, -1) || neighbour(issue.id, 1)) && html`<nav class="toolbar" aria-label="Issues of the list">${step(issue.id, -1, "Previous issue")} ${step(issue.id, 1, "Next issue")}</nav>`}</div>`;

  const menu = (issue) => ui.menu("More actions", [
    issue.origin === "ingested" && { label: "Merge another issue into this one", run: () => document.getElementById("merge-other")?.focus() },
    { label: "Delete …", danger: true, run: () => remove(ui, { issues: [issue] }, () => ui.go(place.list)) },
  ]);

  const actions = (issue) => html`<div class="actions">
    ${ui.actions("issue.actions").map((action) => html`<button class="button" @click=${() => action.run(issue)}>${action.label}</button>`)}
    <ui-copy text=${address(ui, issue.id)} label="Copy link"></ui-copy>
    <ui-copy text=${whole(ui, issue)} label="Copy as Markdown"></ui-copy>
    ${menu(issue)}</div>`;

  const states = (issue) => html`<p class="states"><span class="mark-level" data-level=${issue.severity}>${ui.level(issue.severity)}</span>
    <span class="mark-status" data-status=${issue.status}>${STATUSES[issue.status]}</span>
    ${issue.assigned_to_label && html`<span class="fact">Assigned to ${issue.assigned_to_label}</span>`} ${silence(issue)} ${chips(issue.tags)}</p>`;

  const where = (issue) => html`<p class="row-facts">
    ${[issue.environment, issue.channel, issue.module_name, issue.source_frame].filter(Boolean)
      .map((text) => html`<span class="mono fact">${text}</span>`)}
    ${/^https?:/.test(issue.external_url ?? "") &&
      html`<a href=${issue.external_url} rel="noreferrer" target="_blank">${issue.external_source} ${issue.external_id}</a>`}</p>`;

  const figure = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  function figures({ issue, status_history: rows }) {
    const comments = rows.filter(({ event }) => event === "comment").length;
    return html`<dl class="figures issue-figures">
      ${figure(issue.count === 1 ? "Event" : "Events", ui.number(issue.count))}
      ${issue.users > 0 && figure(issue.users === 1 ? "User" : "Users", ui.number(issue.users))}
      ${figure("Last seen", html`<ui-ago at=${issue.last_seen}></ui-ago>`)}
      ${figure("First seen", html`<ui-ago at=${issue.first_seen}></ui-ago>`)}
      ${comments > 0 && figure(comments === 1 ? "Comment" : "Comments", html`<button class="button button-plain" aria-label="Go to the comments"
        @click=${() => document.getElementById("history")?.scrollIntoView()}>${ui.number(comments)}</button>`)}</dl>`;
  }

  const view = (data, query) => html`${crumbs(data.issue, query)}
    <header class="issue-head" data-level=${data.issue.severity}>
      ${states(data.issue)}
      <h1 tabindex="-1">${data.issue.exception_class && html`<b class="mono">${data.issue.exception_class}</b>`} ${plainTitle(data.issue)}</h1>
      ${where(data.issue)} ${figures(data)} ${actions(data.issue)}
    </header>
    <p class="latest">${history.latest(data.status_history)}</p>`;

  return { neighbour, view };
};
