// The page of one issue: what happened, how often, where, and what was done about it.

import { range } from "../range.js";
import { memoryOf, optional, parts, place } from "../row.js";
import affectedOf from "./affected.js";
import event from "./event.js";
import eventsOf from "./events.js";
import headOf from "./head.js";
import historyOf from "./history.js";
import live from "./live.js";
import narrowing from "./narrow.js";
import side from "./side.js";
import statusOf from "./status.js";
import timelineOf from "./timeline.js";
import walk from "./walk.js";

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed } = ui;
  const { badge } = parts(ui);
  const time = range(ui, (values) => narrow.change(values));
  const narrow = narrowing(ui, time);
  const events = eventsOf(ui, { narrow, time, memory: memoryOf(ui), badge });
  const steps = walk(ui, narrow);
  const eventView = event(ui, narrow, events.message);
  const affected = affectedOf(ui, narrow);
  const sideView = side(ui, anew);
  const timeline = timelineOf(ui, narrow);
  const history = historyOf(ui);
  const status = statusOf(ui);
  const head = headOf(ui, history);
  let current = null;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load(query, options) {
    const { id, occurrence, raw } = query;
    const listing = events.load(query, options);
    // Without one in the address the latest event is shown, of those that match, and stays when newer ones come.
    const held = kept(query);
    const chosen = Number(occurrence) || held?.subject || (narrow.active(query) && (await listing).rows[0]?.id) || null;
    const [answer, list, tags, people] = await Promise.all([
      ui.api("error", { id, occurrence: chosen, limit: 1 }, options).catch((error) => left(error, held)),
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
    return { issue, ...rest, list, all_tags: tags.data, people: people.data, subject, shown, raw: lines, loaded: held?.groupings.length === rest.groupings.length ? held.loaded : issue.count, asked: asking(query) };
  }

  /** Which events an address is about, and what is on the screen when it is about the same. */
  const asking = (query) => JSON.stringify([query.app, query.id, narrow.filters(query)]);
  const kept = (query) => (current?.asked === asking(query) ? current : null);

  /** The event that was shown was taken out to another issue: the next load shows another one. */
  function left(error, held) {
    if (held && error.status === 404) held.asked = null;
    throw error;
  }

  /** Load the page's data anew, without leaving the place; gives them. */
  async function again() {
    const shown = current;
    const fresh = await load(ui.query(), {}).catch(() => null); // then it stays as it is
    if (!fresh || shown !== current) return shown; // another page by now
    Object.assign(shown, fresh);
    ui.refresh();
    return shown;
  }

  function anew() {
    current.asked = null;
    return ui.reload();
  }

  function showNewest() {
    const { occurrence, raw, frame, cursor, older_than, newer_than, ...query } = ui.query();
    if (ui.link(query) === ui.link(ui.query())) return anew();
    current.asked = null;
    ui.go(query);
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
    const unwatch = live(ui, query.id, () => current, again);
    return () => {
      unwatch();
      stop.abort();
      current.asked = null; // whoever comes back later wants the latest event
    };
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

  /** To the issue before or after this one in the list that the person came from. */
  function walkList(by) {
    const id = head.neighbour(current.issue.id, by);
    if (id) ui.go({ view: "issue", id });
  }

  const focus = (selector) => () => document.querySelector(selector)?.focus();

  const keys = [
    { key: "j", label: "Older event", run: () => steps.go(current, 1) },
    { key: "k", label: "Newer event", run: () => steps.go(current, -1) },
    { key: "J", label: "Next issue of the list", run: () => walkList(1) },
    { key: "K", label: "Previous issue of the list", run: () => walkList(-1) },
    { key: "e", label: "Set to fixed", run: () => status.set(current, "fixed", {}, again) },
    { key: "c", label: "Write a comment", run: focus("#comment") },
    { key: "t", label: "Add a tag", run: focus("#new-tag") },
    { key: "s", label: "Snooze alerts", run: focus("#snooze") },
    { key: "u", label: "Back to the list", run: () => ui.go(place.list) },
    { key: "f", label: "Filter the events", run: focus("#event-words") },
    { key: "/", label: "Search the list", run: () => ui.go(Object.assign(place, { searching: true }).list) },
  ];

  const section = (name, heading, content) => html`<section class="block" id=${name} aria-labelledby=${`${name}-title`}>
    <h2 id=${`${name}-title`}>${heading}</h2>${content}</section>`;

  const assign = { key: "a", label: "Assign", run: focus("#assignee") };

  /** Events that came since the page was loaded. */
  const news = ({ issue, loaded }) => html`<p class="fresh" role="status">${issue.count > loaded && html`<button class="button button-main"
    @click=${showNewest}>${ui.plural(issue.count - loaded, "new event")}: show the newest</button>`}</p>`;

  function render(data, query) {
    if (data !== current && current?.issue.id !== data.issue.id) history.open();
    current = data;
    const { issue } = data;
    data.counted = counts(query);
    if (data.people.length && !keys.includes(assign)) keys.push(assign);
    return html`${head.view(data, query)}
      <div class="columns">
        <div class="main">
          ${status.form(data, again)} ${news(data)}
          ${timeline(data.timeline)}
          ${section("event", heading(data, query), eventView(data, query, { has: (by) => steps.has(data, by), go: (by) => steps.go(data, by) }))}
          ${ui.slot("issue.main", issue)}
          ${section("history", "History and comments", history.view(data.status_history, issue.id, again))}
          ${section("events", "Events", events.view(data, query))}
        </div>
        <aside class="side" aria-label="About this issue">${sideView(data, issue.stored_occurrences > 0 && affected(data.counted))} ${ui.slot("issue.side", issue)}</aside>
      </div>`;
  }

  function heading({ shown, subject, list, occurrences }, query) {
    const one = `Event of ${shown ? ui.clock(shown.occurred_at, "exact") : `number ${subject}`}`;
    if (query.occurrence) return one;
    if (narrow.active(query) && !list.rows.length) return "Latest event, which does not match";
    if (narrow.active(query)) return list.first && list.rows[0].id === subject ? "Latest event that matches" : one;
    return subject === (occurrences[0]?.id ?? null) ? "Latest event" : one;
  }

  return { heading: (data) => data?.issue.title, load, open, render, keys };
};
