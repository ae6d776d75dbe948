// The events of an issue: what narrows them down, a row for each that matches, and the way to more.

import messageOf from "./message.js";
import columnsOf from "./columns.js";
import { syntaxOf } from "../search.js";

const LIMIT = 25;
const LETTERS = 400; // of a message in a row
const WALKS = ["cursor", "older_than", "newer_than"];
const OTHER_NAMES = ["user", "host", "release", "environment"];

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, { narrow, time, memory, badge }) => {
  const { html, keyed } = ui;
  const message = messageOf(ui, narrow);
  const columns = columnsOf(ui, memory, narrow, badge);
  const syntax = syntaxOf(ui);

  /** A page of the events that match: `first` has none before it, `more` are behind it. */
  async function load(query, options) {
    const walk = WALKS.find((name) => query[name]);
    const ask = (place) => ui.api("events", { ...narrow.wanted(query), limit: LIMIT, ...place }, options);
    const { data: rows, meta } = await ask(walk && { [walk]: query[walk] });
    // Back at the newest: then the page is filled up.
    if (walk === "newer_than" && rows.length < LIMIT && meta.complete) return load({ ...query, newer_than: null }, options);
    const more = walk === "newer_than" || meta.next_cursor !== null;
    return { rows, meta, first: !walk, more };
  }

  /** The event of a number that is not on the page. */
  const one = async (query, occurrence, options) => (await ui.api("events", { id: query.id, occurrence, limit: 1 }, options)).data[0];

  // -- how many

  function many({ issue, list, counted }, query) {
    const stored = issue.stored_occurrences;
    if (!narrow.active(query)) return ui.plural(stored, "event");
    const whole = list.first && !list.more && list.meta.complete;
    const { meta } = (counted.fresh && counted.answer) || {};
    if (!whole && !meta) return `Some of ${ui.plural(stored, "event")}`;
    const count = whole ? list.rows.length : meta.events;
    return `${whole || meta.complete ? "" : "At least "}${ui.number(count)} of ${ui.plural(stored, "event")} ${count === 1 ? "matches" : "match"}`;
  }

  // -- what narrows

  function search(event) {
    event.preventDefault();
    narrow.change({ q: event.target.elements.q.value.trim() || null });
  }

  function add(event) {
    event.preventDefault();
    const { name: { value: name }, value: { value } } = event.target.elements;
    const filter = narrow.filterFor(name, OTHER_NAMES.includes(name) ? "event" : "message", value.trim());
    if (!filter) return ui.toast("Such a value cannot be a filter; search for its words.", { error: true });
    event.target.reset();
    narrow.change(filter);
  }

  /** The values offered for the chosen name. */
  function offer({ target }, { answer }) {
    const values = answer?.data.find(({ name }) => name === target.value)?.values ?? [];
    target.form.querySelector("datalist").replaceChildren(...values.map(({ value }) => new Option("", value)));
  }

  function adding({ counted }) {
    const names = [...new Set([...(counted.answer?.data ?? []).map(({ name }) => name), ...OTHER_NAMES])];
    return html`<form class="toolbar add-filter" aria-label="Filter by a value" @submit=${add}>
      <select name="name" aria-label="Name" @focus=${(event) => offer(event, counted)} @change=${(event) => offer(event, counted)}>
        ${keyed(names, (name) => name, (name) => html`<option value=${name}>${name}</option>`)}</select>
      <input name="value" aria-label="Value" placeholder="Value" maxlength="200" autocomplete="off" list="event-values" required />
      <datalist id="event-values"></datalist>
      <button class="button">Filter</button></form>`;
  }

  const narrowing = (data, query) => html`<div class="toolbar">
    <form class="search" role="search" aria-label="Filter events" @submit=${search}>
      <label class="search"><span class="off-screen">Search events</span><ui-icon name="search"></ui-icon>
        <input id="event-words" name="q" type="search" maxlength="500" autocomplete="off" .value=${query.q ?? ""} placeholder="Search events, value:&quot;52045&quot;, -payment" /></label>
    </form>${syntax("event-words")} ${time.select(query)} ${adding(data)}</div>
    ${time.dates()} ${narrow.chips(query)}`;

  // -- the rows

  const moment = ({ occurred_at: at }) => `${ui.clock(at, "day")} ${ui.clock(at, "time")}:${at.slice(17)}`;

  const way = (row) => ({ ...ui.query(), occurrence: row.id, raw: null, frame: null });

  /** A click beside the values opens the event. */
  const opening = (row) => (event) => {
    if (!event.target.closest("a, button") && !getSelection().toString()) ui.go(way(row));
  };

  /** Where the event stands in its log; pushed ones stand in none. */
  const lines = (row, several) => row.log_type !== "http" && html`<a class="mono faint" title=${`Lines in ${row.path}`} aria-label=${`Lines in ${row.path} at byte ${row.byte_start}`}
    href=${ui.link({ view: "source", id: row.source_id, mark: row.byte_start })}>${several && `${row.path.split("/").at(-1)} `}@${row.byte_start}</a>`;

  function rowView(row, { subject, shown, logs, several }) {
    return html`<tr aria-current=${row.id === subject ? "true" : null} @click=${opening(row)}>
      <td class="wrap event-message" data-level=${row.severity}>${message(row, LETTERS)}</td>
      <td><a href=${ui.link(way(row))} title="Show this event">${moment(row)}</a></td>
      ${keyed(shown, ({ kind, name }) => `${kind} ${name}`, (column) => html`<td class="event-cell" data-name=${column.name}>${columns.cell(row, column)}</td>`)}
      ${logs && html`<td>${lines(row, several)}</td>`}</tr>`;
  }

  function table({ list: { rows }, subject, counted }) {
    const shown = columns.chosen(rows, counted.answer);
    const logs = rows.some(({ log_type: type }) => type !== "http");
    const several = new Set(rows.map(({ path }) => path)).size > 1;
    const headings = ["Message", `Time (${ui.zone()})`, ...shown.map(({ name }) => name[0].toUpperCase() + name.slice(1)), ...(logs ? ["Log"] : [])];
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of events"><table class="table events">
      <thead><tr>${keyed(headings, (_, at) => at, (text) => html`<th scope="col">${text}</th>`)}</tr></thead>
      <tbody>${keyed(rows, ({ id }) => id, (row) => rowView(row, { subject, shown, logs, several }))}</tbody></table></div>`;
  }

  const place = (query, to) => ui.link({ ...query, cursor: null, older_than: null, newer_than: null, occurrence: null, raw: null, frame: null, ...to });

  function pager({ list: { rows, meta, first, more } }, query) {
    const step = (there, to, text) => there ? html`<a class="button" href=${place(query, to)} @click=${narrow.hold}>${text}</a>` : html`<span class="button button-off">${text}</span>`;
    const older = meta.next_cursor ? { cursor: meta.next_cursor } : { older_than: rows.at(-1)?.id };
    if (!meta.complete) return html`<p class="pager">Looked at ${ui.plural(meta.looked_at, "event")}, back to ${ui.clock(meta.searched_to)}.
      <a class="button" href=${place(query, older)} @click=${narrow.hold}>Go on</a> ${!first && html`<a href=${place(query, {})} @click=${narrow.hold}>Newest</a>`}</p>`;
    if (first && !more) return null;
    return html`<nav class="pager" aria-label="Pages of events">${step(!first, {}, "Newest")} ${step(!first && rows.length > 0, { newer_than: rows[0]?.id }, "Newer events")}
      ${step(more && rows.length > 0, older, "Older events")}</nav>`;
  }

  async function download(query, format) {
    try {
      await ui.download("events", { ...narrow.wanted(query), format });
    } catch (error) {
      ui.toast(`Not exported: ${error.message}`, { error: true });
    }
  }

  const tools = (query) => html`<div class="tools"><span class="faint">Export</span>
    ${["csv", "ndjson"].map((format) => html`<button class="button button-plain" @click=${() => download(query, format)}>${format.toUpperCase()}</button>`)}</div>`;

  function view(data, query) {
    const { list, issue } = data;
    if (!issue.stored_occurrences) return html`<p class="faint">No events are stored for this issue.</p>`;
    return html`<div class="head"><p role="status">${many(data, query)}</p> ${tools(query)}</div>
      ${narrowing(data, query)}
      ${list.rows.length > 0 ? html`${columns.picker(list.rows, data.counted.answer)} ${table(data)}`
        : list.meta.complete && html`<p class="card notice">No event of this issue matches.</p>`}
      ${pager(data, query)}`;
  }

  return { load, message, one, view };
};
