// The page of one issue: what happened, how often, where, and what was done about it.

import { range } from "../range.js";
import { memoryOf, optional, parts, place } from "../row.js";
import { plainTitle, STATUSES } from "../search.js";
import affectedOf from "./affected.js";
import event from "./event.js";
import eventsOf from "./events.js";
import { address, whole } from "./markdown.js";
import narrowing from "./narrow.js";
import side from "./side.js";
import timelineOf from "./timeline.js";
import { setStatus } from "./triage.js";
import walk from "./walk.js";

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed } = ui;
  const { badge, chips, silence } = parts(ui);
  const time = range(ui, (values) => narrow.change(values));
  const narrow = narrowing(ui, time);
  const events = eventsOf(ui, { narrow, time, memory: memoryOf(ui), badge });
  const steps = walk(ui, narrow);
  const eventView = event(ui, narrow, events.message);
  const affected = affectedOf(ui, narrow);
  const sideView = side(ui);
  const timeline = timelineOf(ui, narrow);
  let current = null;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load(query, options) {
    const { id, occurrence, raw } = query;
    const listing = events.load(query, options);
    // Without one in the address the latest event is shown, of those that match.
    const chosen = Number(occurrence) || (narrow.active(query) && (await listing).rows[0]?.id) || null;
    const [answer, list, tags, people] = await Promise.all([
      ui.api("error", { id, occurrence: chosen, limit: 1 }, options),
      listing,
      optional(ui.api("tags", {}, options), { data: [] }),
      optional(ui.api("assignable-users", {}, options), { data: [] }),
    ]);
    const { data: issue, ...rest } = answer;
    issue.tags = rest.tags;
    const subject = chosen ?? rest.occurrences[0]?.id ?? null;
    const row = [...list.rows, ...rest.occurrences].find((event) => event.id === subject);
    const shown = row ?? (subject ? await events.one(query, subject, options) : null);
    const lines = raw && subject ? await rawLines(subject, options) : null;
    return { issue, ...rest, list, all_tags: tags.data, people: people.data, subject, shown, raw: lines };
  }

  /** The bytes of the event with the lines around it; a source that is gone is an answer too. */
  const rawLines = (occurrence, options) =>
    ui.api("source", { occurrence, context: 20 }, options).catch((error) => {
      if (error.status === 404) return { problem: error.message };
      throw error;
    });

  function open(query) {
    narrow.settle();
    if (query.frame) document.getElementById(`frame-${query.frame}`)?.scrollIntoView({ block: "center" });
    else if (query.raw) (document.querySelector("#raw mark") ?? document.getElementById("raw"))?.scrollIntoView({ block: "center" });
    const stop = new AbortController();
    void count(query, stop.signal);
    return () => stop.abort();
  }

  // -- the values of the events are counted while the page is read

  let counted = null;
  const countedFor = (query) => JSON.stringify([query.app, current.issue.id, current.issue.count, narrow.filters(query)]);

  /** Without what a context says once more: `user.id` beside the user. */
  function once({ data, meta }) {
    const known = new Set(data.filter(({ kind }) => kind === "event").map(({ values }) => JSON.stringify(values)));
    return { data: data.filter(({ kind, values }) => kind !== "context" || !known.has(JSON.stringify(values))), meta };
  }

  async function count(query, signal) {
    const { id } = current.issue;
    const asked = countedFor(query);
    if (counted?.asked === asked) return;
    try {
      counted = { id, asked, answer: once(await ui.api("event-values", narrow.wanted(query), { signal })) };
    } catch (error) {
      if (error.name === "AbortError") return;
      counted = { id, asked, problem: error.message };
    }
    if (!signal.aborted) ui.refresh();
  }

  /** What was counted, `fresh` when it is for what is shown; until then the columns stay as they were. */
  const counts = (query) => (counted?.id === current.issue.id ? { ...counted, fresh: counted.asked === countedFor(query) } : {});

  async function change(status, more) {
    if (await setStatus(ui, { issues: [current.issue] }, status, more)) ui.reload();
  }

  function submit(submitted) {
    submitted.preventDefault();
    const form = submitted.target;
    const { status, note, release } = Object.fromEntries(new FormData(form));
    form.elements.note.value = form.elements.release.value = "";
    change(status, { note: note || undefined, release: (status === "fixed" && release) || undefined });
  }

  const back = () => ui.link(place.list);

  /** To the issue before or after this one in the list that the person came from. */
  function walkList(by) {
    const id = place.ids[place.ids.indexOf(current.issue.id) + by];
    if (id && place.ids.includes(current.issue.id)) ui.go({ view: "issue", id });
  }

  const focus = (selector) => () => document.querySelector(selector)?.focus();

  const keys = [
    { key: "j", label: "Older event", run: () => steps.go(current, 1) },
    { key: "k", label: "Newer event", run: () => steps.go(current, -1) },
    { key: "J", label: "Next issue of the list", run: () => walkList(1) },
    { key: "K", label: "Previous issue of the list", run: () => walkList(-1) },
    { key: "e", label: "Set to fixed", run: () => change("fixed") },
    { key: "t", label: "Add a tag", run: focus("#new-tag") },
    { key: "s", label: "Snooze alerts", run: focus("#snooze") },
    { key: "u", label: "Back to the list", run: () => ui.go(place.list) },
    { key: "f", label: "Filter the events", run: focus("#event-words") },
    { key: "/", label: "Search the list", run: () => ui.go(Object.assign(place, { searching: true }).list) },
  ];

  const title = (issue) => html`<h1 tabindex="-1">${issue.exception_class && html`<b class="mono">${issue.exception_class}</b>`}
    ${plainTitle(issue)}</h1>`;

  const facts = (issue) => html`<p class="row-facts">${badge(issue.severity)}
    <span data-status=${issue.status} class="row-status">${STATUSES[issue.status]}</span>
    ${[issue.environment, issue.channel, issue.module_name, issue.source_frame].filter(Boolean)
      .map((text) => html`<span class="mono fact">${text}</span>`)}
    ${silence(issue)} ${chips(issue.tags)}
    ${/^https?:/.test(issue.external_url ?? "") &&
      html`<a href=${issue.external_url} rel="noreferrer" target="_blank">${issue.external_source} ${issue.external_id}</a>`}</p>`;

  const actions = (issue) => html`<div class="actions">
    <ui-copy text=${address(ui, issue.id)} label="Copy link"></ui-copy>
    ${issue.sample_stack && html`<ui-copy text=${issue.sample_stack} label="Copy trace"></ui-copy>`}
    <ui-copy text=${whole(ui, issue)} label="Copy as Markdown"></ui-copy>
    ${ui.actions("issue.actions").map((action) =>
      html`<button class="button" @click=${() => action.run(issue)}>${action.label}</button>`)}
  </div>`;

  const statusForm = (issue) => html`<form class="toolbar status-form" aria-label="Status" @submit=${submit}>
    <select name="status" aria-label="Status" .value=${issue.status}>
      ${Object.entries(STATUSES).map(([id, label]) => html`<option value=${id}>${label}</option>`)}
    </select>
    <input name="note" aria-label="Note" placeholder="Note (optional)" maxlength="10000" autocomplete="off" />
    <input name="release" aria-label="Release with the fix" placeholder="Fixed in release" maxlength="120" autocomplete="off" />
    <button class="button button-main">Set status</button>
  </form>`;

  const said = (row) => {
    if (row.event === "status") return `set ${STATUSES[row.to_status]}${row.from_status ? ` (was ${STATUSES[row.from_status]})` : ""}`;
    if (row.event === "reoccurrence") return "came back after the fix";
    return { created: "created it", assignment: "changed the assignment", merge: "merged issues", unmerge: "took a grouping out",
      snooze: "changed the snooze", edit: "edited it", tracker: "changed it in the tracker" }[row.event] ?? row.event;
  };

  const history = (rows) => rows.length
    ? html`<ol class="history">${keyed(rows, ({ id }) => id, (row) => html`<li><b>${row.actor ?? "snaglist"}</b> ${said(row)}
        <ui-ago class="faint" at=${row.created_at}></ui-ago>${row.note && html`<p class="note">${row.note}</p>`}</li>`)}</ol>`
    : html`<p class="faint">Nobody has changed this issue yet.</p>`;

  const section = (name, heading, content) => html`<section class="block" id=${name} aria-labelledby=${`${name}-title`}>
    <h2 id=${`${name}-title`}>${heading}</h2>${content}</section>`;

  function render(data, query) {
    current = data;
    const { issue } = data;
    data.counted = counts(query);
    return html`<p class="crumbs"><a href=${back()}>Issues</a> / ${issue.id}</p>
      <div class="head issue-head" data-level=${issue.severity}>${title(issue)} ${actions(issue)}</div>
      ${facts(issue)}
      <div class="columns">
        <div class="main">
          ${statusForm(issue)}
          ${timeline(data.timeline)}
          ${section("event", heading(data, query), eventView(data, query, { has: (by) => steps.has(data, by), go: (by) => steps.go(data, by) }))}
          ${ui.slot("issue.main", issue)}
          ${section("events", "Events", events.view(data, query))}
          ${section("history", "History", history(data.status_history))}
        </div>
        <aside class="side" aria-label="About this issue">${sideView(data, issue.stored_occurrences > 0 && affected(data.counted))} ${ui.slot("issue.side", issue)}</aside>
      </div>`;
  }

  function heading({ shown, subject, list }, query) {
    if (query.occurrence) return `Event of ${shown ? ui.clock(shown.occurred_at, "exact") : `number ${subject}`}`;
    if (!narrow.active(query)) return "Latest event";
    if (!list.rows.length) return "Latest event, which does not match";
    return list.first ? "Latest event that matches" : `Event of ${ui.clock(shown.occurred_at, "exact")}`;
  }

  return { heading: (data) => data?.issue.title, load, open, render, keys };
};
