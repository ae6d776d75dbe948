// The rows of the list, with what it shares with the page of an issue, and what the list remembers.

import { foundOf } from "./found.js";
import { done, plainTitle, STATUSES } from "./search.js";

export const parts = ({ clock, html, keyed, level, plural }) => {
  const chip = (tag) => html`<span class="chip" vars=${{ "--tag": tag.color }}>${tag.name}</span>`;
  const chips = (tags) => keyed(tags, ({ id }) => id, chip);
  const badge = (severity) => html`<span class="badge" data-level=${severity}>${level(severity)}</span>`;

  /** That alerts are silent, and how long; null when they are not. */
  function silence({ snoozed_until: until, snooze_count: events }) {
    if (!until && !events) return null;
    return html`<span class="fact">Snoozed ${until ? `until ${clock(until)}` : `for ${plural(events, "more event")}`}</span>`;
  }

  return { chips, badge, silence };
};

/** Run `task`; what may not be seen, or is not there, gives `value`. */
export const optional = (task, value) =>
  task.catch((error) => ([403, 404].includes(error.status) ? value : Promise.reject(error)));

// -- rows

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const rowOf = (ui, memory) => {
  const { html } = ui;
  const { badge, chips, silence } = parts(ui);
  const { matches, way } = foundOf(ui);

  /** Why an issue is new: first seen in the chosen range, in the last 24 hours, or since the person was here last; null when it is not. `history`: the day of the first event of all. */
  function newness(issue, { scoped }, history) {
    if (issue.origin !== "ingested") return null;
    if (scoped) return issue.count === issue.count_total ? "First seen in this time range" : null;
    const before = memory.lastVisit();
    if (before !== null && +ui.moment(issue.created_at) > before) return "New since your last visit";
    const yesterday = ui.stamp(new Date(Date.now() - DAY));
    return issue.first_seen > yesterday && history < yesterday.slice(0, 10) ? "First seen in the last 24 hours" : null; // or all would be
  }

  const cell = (value) => (typeof value === "number" ? ui.number(value) : typeof value === "string" ? value : "");

  const mark = (title) => title && html`<b class="new" title=${title}>New</b>`;

  /** The time that the last column has: of the first event where the list is sorted by it. */
  const age = (sort) => (["first_seen", "oldest"].includes(sort) ? ["first_seen", "First seen"] : ["last_seen", "Last seen"]);

  /** What the bars of the rows are of: the last 24 hours, or those up to the end of the chosen time. */
  function span({ to }) {
    const { date } = ui.query();
    return date ? "That day" : to ? `24 h to ${ui.clock(to, "day")}` : "Last 24 h";
  }

  /** The hours that the rows count, where a range shorter than a day has other ends: they count by full hours. */
  function hours({ from, to }) {
    const [first, last] = [+ui.moment(from ?? ""), to ? +ui.moment(to) : Date.now()];
    const whole = (at) => at % HOUR === 0;
    if (!(last - first < DAY) || (whole(first) && (!to || whole(last)))) return null;
    const at = (time, form) => ui.clock(ui.stamp(new Date(time)), form);
    const start = at(Math.floor(first / HOUR) * HOUR, Date.now() - first < DAY ? "time" : "minute");
    return html`<span class="faint">${to ? `from ${start} to ${at(Math.ceil(last / HOUR) * HOUR, "time")}` : `since ${start}`}</span>`;
  }

  /** What stands over the rows: select all, how many there are, and what the columns are. */
  const head = ({ items, meta: { total, total_exact: exact, columns = [], scoped, sort }, users }, limits, selection) => html`<div class="over">
    <label class="check"><input type="checkbox" aria-label="Select all issues of this page"
      .checked=${items.length > 0 && items.every(selection.has)} @click=${(event) => selection.choosePage(event.target.checked)} />
      <span>${exact ? "" : "over "}${ui.plural(total, "issue")} ${hours(limits)}</span></label>
    ${columns.map(({ heading }) => html`<span class="cell-head">${heading}</span>`)}
    <span class="spark-head" title="Events per hour of each issue">${span(limits)}</span><span class="count-head">Events</span>${users && html`<span class="users-head" title="Of all time">Users${scoped && " ever"}</span>`}<span class="status-head">Status</span><span class="age-head">${age(sort)[1]}</span>
  </div>`;

  /** One issue; with `choose(on, range)`. */
  function view(issue, { meta, users, history, cursor, chosen, choose }) {
    const { columns = [], sort } = meta;
    const classes = ["row", done(issue) && "row-done", cursor && "row-cursor", chosen && "row-chosen"];
    const facts = [issue.exception_class && issue.source_frame, issue.channel, issue.module_name].filter(Boolean);
    const hits = matches(issue, meta);
    const person = issue.assigned_to_label ?? issue.assignee;
    return html`<li class=${classes.filter(Boolean).join(" ")} data-level=${issue.severity} data-id=${issue.id}>
      <label class="row-choice"><input type="checkbox" aria-label=${`Select issue ${issue.id}`}
        .checked=${chosen} @click=${(event) => choose(event.target.checked, event.shiftKey)} /></label>
      ${badge(issue.severity)}
      <div class="row-text">
        <a class="row-title" href=${ui.link(way(issue, meta))}>
          ${mark(newness(issue, meta, history))} ${issue.exception_class && html`<b class="mono">${issue.exception_class}</b>`} ${plainTitle(issue)}</a>
        ${hits && html`<p class="row-hits">${hits}</p>`}
        <p class="row-facts">${person && html`<span class="fact row-person">${person}</span>`} ${silence(issue)}
          ${facts.map((text) => html`<span class="mono fact">${text}</span>`)} ${chips(issue.tags)}</p>
      </div>
      ${ui.slot("issues.columns", issue)}
      ${columns.map(({ name, heading }) => html`<span class="row-cell" title=${heading}>${cell(issue[name])}</span>`)}
      <ui-bars class="spark" values=${issue.sparkline.join()} label="Events per hour, 24 hours"></ui-bars>
      <span class="row-count" title=${ui.plural(issue.count, "event")}><b>${ui.number(issue.count)}</b> <span class="row-word">${issue.count === 1 ? "event" : "events"}</span></span>
      ${users && html`<span class="row-users">${issue.users > 0 && html`${ui.number(issue.users)} <span class="row-word">${issue.users === 1 ? "user" : "users"}</span>`}</span>`}
      <span class="row-status" data-status=${issue.status}>${STATUSES[issue.status]}</span>
      <span class="row-age"><ui-ago at=${issue[age(sort)[0]]}></ui-ago></span>
    </li>`;
  }

  return { head, view };
};

// -- memory: the page where the person is in it, this browser for each application the saved searches, the density, and
// when its issues were last looked at

const PLACE = `snaglist.issues:${location.pathname}`;
const SAME_VISIT = 30 * 60_000; // a shorter absence, such as a reload, goes on with the visit

/** The way back from an issue, and the issues before and after it. */
export const place = { list: {}, ids: [], searching: false };

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const memoryOf = (ui) => {
  const name = (what) => `${PLACE}:${ui.query().app ?? ""}:${what}`;

  function read(what, otherwise) {
    try {
      const value = JSON.parse(localStorage.getItem(name(what))) ?? otherwise;
      return Array.isArray(value) === Array.isArray(otherwise) ? value : otherwise; // anybody may have written there
    } catch {
      return otherwise;
    }
  }

  function write(what, value) {
    try {
      localStorage.setItem(name(what), JSON.stringify(value));
    } catch {
      // Storage is blocked: it holds as long as the page.
    }
  }

  const visits = new Map();

  /** When the visit before this one ended, in milliseconds; null when there was none. */
  function lastVisit() {
    const at = name("visit");
    if (!visits.has(at)) {
      const { left = null, before = null } = read("visit", {});
      visits.set(at, left !== null && Date.now() - left < SAME_VISIT ? before : left);
      addEventListener("pagehide", () => write("visit", { left: Date.now(), before: visits.get(at) }));
    }
    return visits.get(at);
  }

  return { read, write, lastVisit };
};
