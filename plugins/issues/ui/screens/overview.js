// Overview: how much, how bad, from where, what happens most, what is new.

import { parts } from "../row.js";
import { plainTitle, STATUSES, UNRESOLVED } from "../search.js";
import daysOf from "./days.js";

const DAYS = 30;
const DAY = 86_400_000;
const SHOWN = 8;
const MOST = 100; // in one answer

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed, api } = ui;
  const { badge } = parts(ui);

  /** The moment in the address; what is none (a mistyped link) would compare with nothing and show that nothing is new. */
  function chosen({ since = "" }) {
    const at = ui.moment(since);
    return !Number.isNaN(+at) && ui.stamp(at) === since ? since : null;
  }

  /** The issues that were first seen since a moment, newest first; not `exact` when there may be more. */
  async function news(since, options) {
    const { data, meta } = await api("errors", { sort: "first_seen", limit: MOST }, options);
    const issues = data.filter(({ first_seen: at }) => at >= since);
    return { issues, exact: issues.length < data.length || meta.pages < 2 };
  }

  async function load(query, options) {
    const since = chosen(query) ?? ui.stamp(new Date(Date.now() - DAY));
    const [summary, most, fresh] = await Promise.all([
      api("summary", {}, options),
      api("errors", { status: UNRESOLVED, sort: "occurrences", limit: SHOWN }, options),
      news(since, options),
    ]);
    return { summary, most: most.data, fresh };
  }

  const figure = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  /** What is asked first stands first: what is to be done, what is new, what happens now. */
  function totals({ summary: { total, status, hours }, fresh }, query) {
    const unresolved = status.filter((row) => UNRESOLVED.includes(row.status)).reduce((sum, row) => sum + row.groups_count, 0);
    return html`<section class="card"><dl class="figures overview-figures">
      ${figure("Unresolved", html`<a href=${ui.link({})}>${ui.number(unresolved)}</a>`)}
      ${!chosen(query) && figure("New in 24 hours", html`${!fresh.exact && "over "}${ui.number(fresh.issues.length)}`)}
      ${figure("Events in 24 hours", ui.number(hours.reduce((sum, value) => sum + value, 0)))}
      ${figure("Last event", html`<ui-ago at=${total.last_seen}></ui-ago>`)}
      ${figure("All issues", html`<a href=${every({})}>${ui.number(total.groups_count)}</a>`)}
      ${figure("All events", ui.number(total.occurrences))}
    </dl></section>`;
  }

  const days = ({ trend }) => html`<section class="card">${daysOf(ui, DAYS, trend, { pick: ({ from, to }) => ui.go({ from, to, status: "all" }) })}</section>`;

  /** The issues of all statuses, as they are counted here. */
  const every = (query) => ui.link({ ...query, status: "all" });

  /** Rows with a bar behind: `{ name, count, to, severity, status, title }`; level and status give their colour, `title` is the hover text. */
  function shares(title, unit, rows) {
    const most = Math.max(1, ...rows.map(({ count }) => count));
    return html`<section class="card"><h2>${title} <span class="faint">${unit}</span></h2>
      <ol class="shares">${rows.map(({ name, count, to, severity, status, title: hover }) => html`<li data-level=${severity} data-status=${status} title=${hover}
        vars=${{ "--share": `${(count / most) * 100}%` }}>
        <a href=${to}>${name}</a> <span class="count">${ui.number(count)}</span></li>`)}</ol></section>`;
  }

  const levels = ({ severity }) => shares("By level", "events", severity.map((row) => ({
    name: ui.level(row.severity), count: row.occurrences, severity: row.severity, to: every({ severity: row.severity }),
    title: ui.plural(row.groups_count, "issue"),
  })));

  const statuses = ({ status }) => shares("By status", "issues", status.map((row) => ({
    name: STATUSES[row.status], status: row.status, count: row.groups_count, to: ui.link({ status: row.status }),
  })));

  /** The files imported last, by what they are called: one log of several machines is one line. */
  function sources({ files }) {
    const counts = new Map();
    for (const file of files) counts.set(file.channel, (counts.get(file.channel) ?? 0) + file.occurrence_count);
    return files.length > 0 && shares("Latest sources", "events", [...counts].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
      .map(([channel, count]) => ({ name: channel, count, to: every({ source: channel }) })));
  }

  const modules = ({ modules: rows }) => rows.some(({ issue_count: count }) => count > 0) && shares("By module", "issues", [...rows].sort((a, b) => b.issue_count - a.issue_count)
    .slice(0, SHOWN).map(({ name, slug, issue_count: count }) => ({ name, count, to: every({ module: slug }) })));

  const issue = (row) => html`<li class="brief" data-level=${row.severity}>${badge(row.severity)}<a href=${ui.link({ view: "issue", id: row.id })}>
      ${row.exception_class && html`<b class="mono">${row.exception_class}</b>`} ${plainTitle(row)}</a>
    ${row.status !== "open" && html`<span class="mark-status" data-status=${row.status}>${STATUSES[row.status]}</span>`}
    <span class="count"><b>${ui.number(row.count)}</b> · <ui-ago at=${row.last_seen}></ui-ago></span></li>`;

  /** What came up since the chosen moment, else since a day; the rest is in the list, marked as new. */
  function recent({ issues, exact }, query) {
    const since = chosen(query);
    const count = issues.length ? ` (${exact ? "" : "over "}${ui.number(issues.length)})` : "";
    const events = every(since ? { from: since } : { range: "24h" });
    const more = !since && issues.length > SHOWN && html`<a href=${ui.link({ view: "overview", since: ui.stamp(new Date(Date.now() - DAY)) })}>All new issues</a>`;
    return list(`${since ? `New since ${ui.clock(since)} ${ui.zone()}` : "New in 24 hours"}${count}`, since ? issues : issues.slice(0, SHOWN),
      since ? "Nothing new since then." : "No new issue in the last 24 hours.", html`${more} <a href=${events}>Issues with events ${since ? "since then" : "in 24 hours"}</a>`);
  }

  const list = (title, rows, none, more) => html`<section class="card"><h2>${title}</h2>
    ${rows.length ? html`<ol class="briefs">${keyed(rows, ({ id }) => id, issue)}</ol>` : html`<p class="calm"><ui-icon name="check"></ui-icon> ${none}</p>`}
    <p class="toolbar further">${more}</p></section>`;

  const render = ({ summary, most, fresh }, query) => html`<div class="head"><h1 tabindex="-1">Overview</h1></div>
    ${!summary.total.groups_count
      ? html`<section class="card notice"><h2>Nothing received yet</h2><p><a href=${ui.link({ view: "setup" })}>Add logs</a></p></section>`
      : html`<div class="stack">${totals({ summary, fresh }, query)} ${days(summary)}
        <div class="cards cards-even">
          ${list("Most events, unresolved", most, "Everything is resolved.", html`<a href=${ui.link({ sort: "occurrences" })}>All by number of events</a>`)}
          ${recent(fresh, query)}
        </div>
        <div class="cards cards-small">${levels(summary)} ${statuses(summary)} ${sources(summary)} ${modules(summary)}</div>
        ${ui.slot("overview", ui.application() ?? {})}
      </div>`}`;

  return { load, render };
};
