// The list of issues, the dashboard's home: tabs, filters, the chart, the rows.

import { choosing } from "./choosing.js";
import { filters } from "./filters.js";
import { foundOf } from "./found.js";
import { ANY_TIME, range } from "./range.js";
import { memoryOf, optional, place, rowOf } from "./row.js";
import { FILTERS, filtersOf, learn } from "./search.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const change = (values, options) => ui.go({ ...ui.query(), page: null, ...values }, options);
  const memory = memoryOf(ui);
  const time = range(ui, change);
  const { toolbar, tabs } = filters(ui, change);
  const row = rowOf(ui, memory);
  const found = foundOf(ui);
  const selection = choosing(ui);
  const searched = () => [...FILTERS, ...Object.keys(ANY_TIME), "sort"];
  let current = null;
  /** Events that came since the list was loaded. */
  let fresh = 0;
  /** What is fetched when it is needed for the first time: the chips of the filters, the saved searches, the chart. */
  let chips = null;
  let saved = null;
  let chart = null;

  /** The filters of an address as the API takes them. */
  function wanted(query) {
    const { from, to } = time.limits(query);
    return filtersOf({ ...query, from, to });
  }

  /** True: there is a filter beside the status. */
  const narrowed = (query) => time.chosen(query) || Object.keys(filtersOf(query)).some((name) => name !== "status");

  async function needChips(query) {
    if (narrowed(query)) chips ??= (await import("./screens/chips.js")).default(ui, time);
  }

  /** What the filters find. A filter that the service refuses leaves what is shown, and says what is wrong. */
  async function search(query, options) {
    try {
      return [await ui.api("errors", { ...wanted(query), sort: query.sort, page: query.page }, options), null];
    } catch (error) {
      if (error.status !== 422) throw error;
      const problem = (await import("./screens/mistyped.js")).default(error.message, query);
      const shown = current && !current.setup && current.app === (query.app ?? "");
      return [shown ? { data: current.items, meta: current.meta } : await ui.api("errors", {}, options), problem];
    }
  }

  /** How many issues of each status the filters find, and their events over time: they come behind the rows. */
  async function surround(data, query, signal) {
    try {
      const [{ default: drawing }, activity] = await Promise.all([import("./screens/activity.js"), ui.api("issue-activity", wanted(query), { signal })]);
      chart ??= drawing(ui, time, change);
      Object.assign(data, { activity, counts: activity });
    } catch (error) {
      if (signal.aborted || ([0, 502, 503, 504].includes(error.status) && data.activity && !data.activity.problem)) return; // it passes
      Object.assign(data, { activity: { problem: error.message }, counts: null });
    }
    if (!signal.aborted) ui.refresh();
  }

  /** Once at a time: a change that comes meanwhile is asked for behind it. */
  function surrounding(data, query, signal) {
    let asking = null, again = false;
    return function follow() {
      if (asking) return void (again = true);
      again = false;
      asking = surround(data, query, signal).then(() => {
        asking = null;
        if (again && !signal.aborted) follow();
      });
    };
  }

  async function load(query, options) {
    const [[errors, problem], summary, tags, people] = await Promise.all([
      search(query, options),
      ui.api("summary", {}, options),
      optional(ui.api("tags", {}, options), { data: [] }),
      optional(ui.api("assignable-users", {}, options), { data: [] }),
      needChips(query),
    ]);
    learn(errors.meta.words);
    const setup = summary.total.groups_count ? null : (await Promise.all([import("./screens/setup.js"), ui.widgets()]))[0].default(ui);
    // A column of its own: most logs name nobody. Users are of all time, beside the events of a range they would mislead.
    const users = query.sort === "users" || (!errors.meta.scoped && errors.data.some((issue) => issue.users > 0));
    const app = query.app ?? "";
    // The chart stays while the same is shown in another order, and what the tabs count also under another tab.
    const filters = JSON.stringify([app, query.range, filtersOf({ ...query, status: "all" })]);
    const same = current?.filters === filters ? current : {};
    const activity = same.status === query.status && !same.activity?.problem ? same.activity : null;
    return { items: errors.data, meta: errors.meta, activity, counts: activity ?? (same.counts?.statuses_exact ? same.counts : null), filters, status: query.status, problem, users, summary, tags: tags.data, people: people.data, setup, app };
  }

  function open(query) {
    if (place.searching) document.querySelector("#search")?.focus();
    place.searching = false;
    document.querySelector(".row-cursor")?.scrollIntoView({ block: "nearest" });
    const before = current.summary.total.occurrences;
    const mine = current;
    const stop = new AbortController();
    const follow = mine.problem || mine.setup ? () => {} : surrounding(mine, query, stop.signal);
    follow();
    // The rows stay where they are; the counts of the tabs and the chart follow.
    const rest = ui.watch("summary", {}, (summary) => {
      const same = JSON.stringify(summary) === JSON.stringify(mine.summary);
      mine.summary = summary;
      fresh = Math.max(0, summary.total.occurrences - before);
      if (summary.total.groups_count && current.setup) return void ui.reload();
      ui.refresh();
      if (!same || mine.activity?.problem) follow();
    });
    return () => {
      rest();
      stop.abort();
    };
  }

  async function fix() {
    const fixed = selection.subject(wanted(ui.query()));
    if (fixed.issues.length) (await import("./screens/triage.js")).setStatus(ui, fixed, "fixed");
  }

  const keys = [
    ...selection.keys,
    { key: "Enter", label: "Open the issue", run: selection.atCursor((issue) => ui.go(found.way(issue, current.meta))) },
    { key: "e", label: "Set to fixed", run: fix },
    { key: "/", label: "Search", run: () => document.querySelector("#search")?.select() },
    { key: "u", label: "Clear filters", run: () => ui.go({}) },
  ];

  // -- view

  const pill = () => html`<p class="live" role="status">${fresh > 0
    && html`<button class="button button-main" @click=${ui.reload}>${ui.plural(fresh, "new event")}</button>`}</p>`;

  async function download(query, format) {
    try {
      await ui.download("errors", { ...wanted(query), sort: query.sort, format });
    } catch (error) {
      ui.toast(`Not exported: ${error.message}`, { error: true });
    }
  }

  function setDensity(compact) {
    memory.write("compact", compact);
    ui.refresh();
  }

  async function needSaved() {
    saved ??= (await import("./screens/saved.js")).default(ui, memory, searched, time);
    ui.refresh();
  }

  const density = (compact) => html`<span class="joined joined-soft" role="group" aria-label="Height of rows">
    ${[["Comfortable", false], ["Compact", true]].map(([label, value]) => html`<button class="button" aria-pressed=${compact === value ? "true" : "false"}
      @click=${() => setDensity(value)}>${label}</button>`)}</span>`;

  const tools = (query, compact) => html`<div class="tools">
    ${ui.popover("Saved searches", saved?.(query), { text: "Saved searches", plain: true, kind: "help-list", opening: needSaved })}
    <span class="export" role="group" aria-label="Export"><span class="faint">Export</span>${["csv", "ndjson"].map((format) => html`<button class="button button-plain"
      title=${`Export all issues of this list as ${format.toUpperCase()}`} @click=${() => download(query, format)}>${format.toUpperCase()}</button>`)}</span>
    ${density(compact)}
  </div>`;

  function rows(data, compact) {
    const view = (issue, at) => row.view(issue, { meta: data.meta, users: data.users, history: data.summary.trend[0]?.day, cursor: selection.isCursor(at), chosen: selection.has(issue),
      choose: (on, toAnchor) => selection.choose(at, on, toAnchor) });
    return html`<ol class=${compact ? "rows rows-compact" : "rows"} aria-label="Issues">${keyed(data.items, ({ id }) => id, view)}</ol>`;
  }

  /** Of each status; without a filter they are known before the chart is. */
  const counts = ({ counts: found, summary }, query) => found ?? (narrowed(query) ? null : { statuses: summary.status, statuses_exact: true });

  function surroundings({ activity, problem }, query) {
    if (activity?.problem) return html`<p class="activity faint">The chart is missing: ${activity.problem}</p>`;
    return activity ? chart(activity, query) : !problem && html`<div class="activity"></div>`;
  }

  function render(data, query) {
    if (data !== current) fresh = 0;
    current = data;
    selection.show(data);
    if (ui.link(query) !== ui.link(place.list)) selection.reset();
    Object.assign(place, { list: query, ids: data.items.map(({ id }) => id) });
    const compact = memory.read("compact", false);
    if (data.setup) return html`<div class="head"><h1 tabindex="-1">Issues</h1></div> ${data.setup.view()}`;
    return html`<div class="head"><h1 tabindex="-1">Issues</h1> ${pill()} ${tools(query, compact)}</div>
      ${tabs(query, counts(data, query))} ${toolbar(query, data, time.select(query))} ${time.dates()} ${chips?.(query, data)} ${surroundings(data, query)}
      ${data.items.length > 0 ? html`${found.searched(data.meta)} ${row.head(data, time.limits(query), selection)} ${rows(data, compact)} ${data.meta.pages > 1 && ui.pager(data.meta, "issue")}` : found.none(query, data, narrowed(query))}
      ${selection.view(data.problem ? null : wanted(query))}`;
  }

  return { id: "issues", title: "Issues", icon: "list", nav: true, order: 10, letter: "i", bare: true, load, open, render, keys };
};
