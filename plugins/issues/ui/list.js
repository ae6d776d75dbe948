// The list of issues, the dashboard's home: rows, choosing, keyboard, live pill.

import { filters, range } from "./filters.js";
import { foundOf } from "./found.js";
import { memoryOf, optional, place, rowOf } from "./row.js";
import { compose, FILTERS, filtersOf, learn } from "./search.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const change = (values) => ui.go({ ...ui.query(), page: null, ...values });
  const memory = memoryOf(ui);
  const time = range(ui, change, () => `${ui.zone()}, whole hours`);
  const { toolbar, tabs } = filters(ui, change);
  const row = rowOf(ui, memory);
  const found = foundOf(ui);
  const searched = () => [...FILTERS, "range", "sort"];
  /** The saved searches; fetched when there are some, or something to save. */
  let saved = null;
  /** What the address does not hold: the row of the keyboard, the chosen rows, or all that match, events that came since. */
  let cursor = -1, anchor = -1;
  let chosen = new Set();
  let all = false;
  let fresh = 0;
  let current = null;
  /** The bar over the chosen rows; fetched when rows are chosen for the first time. */
  let bar = null;

  /** The filters of an address as the API takes them. */
  const wanted = (query) => {
    const { from, to } = time.limits(query);
    return filtersOf({ ...query, from, to });
  };

  async function needSaved(query) {
    if (!searched().some((name) => query[name]) && !memory.read("saved", []).length) return;
    saved ??= (await import("./saved.js")).default(ui, memory, searched);
  }

  async function load(query, options) {
    const [errors, summary, tags, people] = await Promise.all([
      ui.api("errors", { ...wanted(query), sort: query.sort, page: query.page }, options),
      ui.api("summary", {}, options),
      optional(ui.api("tags", {}, options), { data: [] }),
      optional(ui.api("assignable-users", {}, options), { data: [] }),
      needSaved(query),
    ]);
    learn(errors.meta.words);
    const setup = summary.total.groups_count ? null : (await Promise.all([import("./screens/setup.js"), ui.widgets()]))[0].default(ui);
    const users = errors.data.some((issue) => issue.users > 0); // a column of its own: most logs name nobody
    return { items: errors.data, meta: errors.meta, users, summary, tags: tags.data, people: people.data, setup };
  }

  function open() {
    if (place.searching) document.querySelector("#search")?.focus();
    place.searching = false;
    document.querySelector(".row-cursor")?.scrollIntoView({ block: "nearest" });
    const before = current.summary.total.occurrences;
    // The rows stay where they are; the counts of the tabs follow.
    return ui.watch("summary", {}, (summary) => {
      fresh = Math.max(0, summary.total.occurrences - before);
      if (summary.total.groups_count && current.setup) return void ui.reload();
      current.summary = { ...current.summary, status: summary.status, total: summary.total };
      ui.refresh();
    });
  }

  // -- choosing

  const selection = () => current.items.filter(({ id }) => chosen.has(id));

  function chose() {
    all = false;
    ui.refresh();
    if (chosen.size) void needBar();
  }

  async function needBar() {
    const [bulk] = await Promise.all([import("./screens/bulk.js"), ui.widgets()]);
    bar ??= bulk.default(ui);
    ui.refresh();
  }

  function choose(at, on, toAnchor) {
    const [from, to] = toAnchor && anchor >= 0 ? [Math.min(anchor, at), Math.max(anchor, at)] : [at, at];
    for (const { id } of current.items.slice(from, to + 1)) chosen[on ? "add" : "delete"](id);
    anchor = at;
    chose();
  }

  function choosePage(on) {
    chosen = new Set(on ? current.items.map(({ id }) => id) : []);
    chose();
  }

  /** What is acted on: the chosen rows, everything that the filters find, or the row of the keyboard. */
  function subject() {
    if (all) return { issues: selection(), filter: wanted(ui.query()), total: current.meta.total };
    return { issues: chosen.size ? selection() : [current.items[cursor]].filter(Boolean) };
  }

  function chosenBar({ meta, items, tags, people }) {
    const rest = !all && chosen.size === items.length && meta.total > items.length;
    const more = rest && { label: `Choose all ${meta.total_exact ? "" : "over "}${ui.number(meta.total)} that match`,
      run: () => { all = true; ui.refresh(); } };
    return bar({ subject: subject(), tags, people, more, clear: () => choosePage(false) });
  }

  // -- keyboard

  function move(step) {
    if (!current.items.length) return;
    cursor = Math.min(Math.max(cursor + step, 0), current.items.length - 1);
    ui.refresh();
    document.querySelector(".row-cursor")?.scrollIntoView({ block: "nearest" });
  }

  const atCursor = (run) => () => current.items[cursor] && run(current.items[cursor]);

  /** To a control of the bar; the row of the keyboard is chosen when none is. */
  const toBar = (control) => async () => {
    if (!chosen.size && current.items[cursor]) choose(cursor, true, false);
    if (!chosen.size) return;
    await needBar();
    document.querySelector(`.bulk ${control}`)?.focus();
  };

  async function fix() {
    const fixed = subject();
    if (fixed.issues.length) (await import("./screens/triage.js")).setStatus(ui, fixed, "fixed");
  }

  const keys = [
    { key: "j", label: "Next issue", run: () => move(1) },
    { key: "k", label: "Previous issue", run: () => move(-1) },
    { key: "Enter", label: "Open the issue", run: atCursor((issue) => ui.go(found.way(issue, current.meta))) },
    { key: "x", label: "Choose the issue", run: atCursor(({ id }) => choose(cursor, !chosen.has(id), false)) },
    { key: "X", label: "Choose up to the issue", run: atCursor(() => choose(cursor, true, true)) },
    { key: "e", label: "Set to fixed", run: fix },
    { key: "t", label: "Tag", run: toBar("[name=tag]") },
    { key: "s", label: "Snooze alerts", run: toBar("select[aria-label^=Snooze]") },
    { key: "/", label: "Search", run: () => document.querySelector("#search")?.select() },
    { key: "u", label: "Drop all filters", run: () => ui.go({}) },
    { key: "Escape", label: "Choose nothing", run: () => choosePage(false) },
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

  const tools = (query, compact) => html`<div class="tools">
    <button class="button button-plain" aria-pressed=${compact ? "true" : "false"} @click=${() => setDensity(!compact)}>Compact rows</button>
    <span class="faint">Export</span>
    ${["csv", "ndjson"].map((format) => html`<button class="button button-plain" @click=${() => download(query, format)}>${format.toUpperCase()}</button>`)}
  </div>`;

  /** Why nothing is shown, and the way on. */
  function none(query) {
    const words = [compose(query), query.status && "the status", time.chosen(query) && "the time range"].filter(Boolean);
    return html`<div class="card notice"><h2>No issue matches</h2> ${found.searched(current.meta)}
      ${words.length ? html`<p>Nothing fits ${words.join(" and ")} in this application.</p><p><a href=${ui.link({})}>Drop all filters</a></p> ${ui.slot("issues.none", query)}`
        : html`<p>This page is past the end. <a href=${ui.link({})}>Go to the first</a></p>`}</div>`;
  }

  function rows(data, compact) {
    const view = (issue, at) => row.view(issue, { meta: data.meta, users: data.users, cursor: at === cursor, chosen: chosen.has(issue.id),
      choose: (on, toAnchor) => choose(at, on, toAnchor) });
    return html`<ol class=${compact ? "rows rows-compact" : "rows"} aria-label="Issues">${keyed(data.items, ({ id }) => id, view)}</ol>`;
  }

  function render(data, query) {
    if (data !== current) fresh = 0;
    current = data;
    if (ui.link(query) !== ui.link(place.list)) [cursor, anchor, chosen, all] = [-1, -1, new Set(), false];
    Object.assign(place, { list: query, ids: data.items.map(({ id }) => id) });
    const compact = memory.read("compact", false);
    if (data.setup) return html`<div class="head"><h1 tabindex="-1">Issues</h1></div> ${data.setup.view()}`;
    return html`<div class="head"><h1 tabindex="-1">Issues</h1> ${tools(query, compact)} ${pill()}</div> ${time.chart(data.summary, query)} ${tabs(query, data.summary)}
      ${toolbar(query, data, time.select(query))} ${time.dates(query)} ${saved?.(query)}
      ${data.items.length > 0 ? html`${found.searched(data.meta)} ${row.head(data, chosen, choosePage)} ${rows(data, compact)} ${data.meta.pages > 1 && ui.pager(data.meta, "issue")}` : none(query)}
      ${bar && chosen.size > 0 && chosenBar(data)}`;
  }

  return { id: "issues", title: "Issues", icon: "list", nav: true, order: 10, bare: true, load, open, render, keys };
};
