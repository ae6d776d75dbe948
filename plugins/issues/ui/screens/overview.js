// Overview: how much, how bad, from where, what is loudest, what is new.

import { newSince } from "../new.js";
import { plainTitle, STATUSES } from "../search.js";

const DAYS = 30;
const DAY = 86_400_000;
const SHOWN = 8;
const UNDONE = ["open", "in_progress", "reoccurred"];

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed, api } = ui;

  /** The moment in the address; what is none (a mistyped link) would compare with nothing and show that nothing is new. */
  function chosen({ since = "" }) {
    const at = ui.moment(since);
    return !Number.isNaN(+at) && ui.stamp(at) === since ? since : null;
  }

  async function load(query, options) {
    const since = chosen(query) ?? ui.stamp(new Date(Date.now() - DAY));
    const counted = api("summary", {}, options);
    const [summary, loud, fresh] = await Promise.all([
      counted,
      api("errors", { status: UNDONE, sort: "occurrences", limit: SHOWN }, options),
      counted.then(({ total }) => newSince(api, since, total.groups_count, options)),
    ]);
    return { summary, loud: loud.data, fresh };
  }

  const figure = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  function totals({ total, status, hours }) {
    const undone = status.filter((row) => UNDONE.includes(row.status)).reduce((sum, row) => sum + row.groups_count, 0);
    return html`<section class="card"><dl class="figures">
      ${figure("Issues", ui.number(total.groups_count))}
      ${figure("To do", ui.number(undone))}
      ${figure("Events", ui.number(total.occurrences))}
      ${figure("Events in 24 h", ui.number(hours.reduce((sum, value) => sum + value, 0)))}
      ${figure("Last event", html`<ui-ago at=${total.last_seen}></ui-ago>`)}
    </dl></section>`;
  }

  function days({ trend }) {
    const counts = new Map(trend.map(({ day, count }) => [day, count]));
    const today = Math.floor(Date.now() / DAY) * DAY;
    const starts = Array.from({ length: DAYS }, (_, at) => ui.stamp(new Date(today - (DAYS - 1 - at) * DAY)));
    const end = ui.stamp(new Date(today + DAY));
    return html`<section class="card">${ui.chart({
      label: `Events per day, last ${DAYS} days`,
      unit: ["event", "events"],
      starts,
      end,
      series: [{ id: "events", label: "Events", tone: "accent", values: starts.map((start) => counts.get(start.slice(0, 10)) ?? 0) }],
      marks: ui.marks({ from: starts[0], to: end }),
      empty: `No events in the last ${DAYS} days.`,
      pick: ({ from, to }) => ui.go({ from, to, status: "all" }),
    })}</section>`;
  }

  /** Rows with a bar behind: `{ name, count, to, severity, title }`; `severity` colours the edge, `title` is the hover text. */
  function shares(title, rows) {
    const most = Math.max(1, ...rows.map(({ count }) => count));
    return html`<section class="card"><h2>${title}</h2>
      <ol class="shares">${rows.map(({ name, count, to, severity, title: hover }) => html`<li data-level=${severity} title=${hover}
        vars=${{ "--share": `${(count / most) * 100}%` }}>
        <a href=${to}>${name}</a> <span class="count">${ui.number(count)}</span></li>`)}</ol></section>`;
  }

  const levels = ({ severity }) => shares("By level", severity.map((row) => ({
    name: ui.level(row.severity), count: row.occurrences, severity: row.severity, to: ui.link({ severity: row.severity, status: "all" }),
    title: ui.plural(row.groups_count, "issue"),
  })));

  const statuses = ({ status }) => shares("By status", status.map((row) => ({
    name: STATUSES[row.status], count: row.groups_count, to: ui.link({ status: row.status }),
  })));

  /** The files imported last, by what they are called: one log of several machines is one line. */
  function sources({ files }) {
    const counts = new Map();
    for (const file of files) counts.set(file.channel, (counts.get(file.channel) ?? 0) + file.occurrence_count);
    return files.length > 0 && shares("By source, latest imports", [...counts].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
      .map(([channel, count]) => ({ name: channel, count, to: ui.link({ source: channel, status: "all" }) })));
  }

  const modules = ({ modules: rows }) => rows.length > 0 && shares("By module", [...rows].sort((a, b) => b.issue_count - a.issue_count)
    .slice(0, SHOWN).map(({ name, slug, issue_count: count }) => ({ name, count, to: ui.link({ module: slug, status: "all" }) })));

  const issue = (row) => html`<li class="brief" data-level=${row.severity}><a href=${ui.link({ view: "issue", id: row.id })}>
      ${row.exception_class && html`<b class="mono">${row.exception_class}</b>`} ${plainTitle(row)}</a>
    <span class="count">${ui.number(row.count)} · <ui-ago at=${row.last_seen}></ui-ago></span></li>`;

  /** What came up since the chosen moment, else since a day; the rest is in the list, marked as new. */
  function news({ issues, exact }, query) {
    const since = chosen(query);
    const count = issues.length ? ` (${exact ? "" : "over "}${ui.number(issues.length)})` : "";
    const range = since ? { from: since } : { range: "24h" };
    const more = !since && issues.length > SHOWN && html`<p><a href=${ui.link({ view: "overview", since: ui.stamp(new Date(Date.now() - DAY)) })}>All new ones</a></p>`;
    return list(`${since ? `New since ${ui.clock(since)}` : "New in 24 h"}${count}`, since ? issues : issues.slice(0, SHOWN), "Nothing new.",
      html`${more}<p><a href=${ui.link({ ...range, status: "all" })}>All issues with events since then</a></p>`);
  }

  const list = (title, rows, none, more) => html`<section class="card"><h2>${title}</h2>
    ${rows.length ? html`<ol class="briefs">${keyed(rows, ({ id }) => id, issue)}</ol>` : html`<p class="faint">${none}</p>`}
    ${more}</section>`;

  const render = ({ summary, loud, fresh }, query) => html`<div class="head"><h1 tabindex="-1">Overview</h1></div>
    ${!summary.total.groups_count
      ? html`<section class="card notice"><h2>Nothing received yet</h2><p><a href=${ui.link({ view: "setup" })}>Add logs</a></p></section>`
      : html`<div class="stack">${totals(summary)} ${days(summary)}
        <div class="cards">
          ${news(fresh, query)}
          ${list("Loudest, not done", loud, "Everything is done.", html`<p><a href=${ui.link({ sort: "occurrences" })}>All by number of events</a></p>`)}
        </div>
        <div class="cards cards-small">${levels(summary)} ${statuses(summary)} ${sources(summary)} ${modules(summary)}</div>
        ${ui.slot("overview", ui.application() ?? {})}
      </div>`}`;

  return { load, render };
};
