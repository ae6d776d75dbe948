// What the list is filtered by: the search field with suggestions, the selects, the tabs of the statuses, and the time: the chart
// of the last 24 hours to drag over, and the ranges to choose from.

import { compose, LEVELS, parse, SORTS, STATUSES } from "./search.js";
import syntaxOf from "./syntax.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const filters = (ui, change) => {
  const { html, keyed } = ui;
  const syntax = syntaxOf(ui);
  const filterWords = html`Filters of issues can stand among the words: <code>level:error</code> <code>tag:payments</code> <code>env:staging</code> <code>stack:true</code>.`;
  /** What is being typed into the search field and was not searched for yet; an answer that comes now leaves it alone. */
  let typed = null;

  function search(event) {
    event.preventDefault();
    typed = null;
    const query = ui.query();
    const found = parse(new FormData(event.target).get("q"));
    // What has a control of its own stays, unless it was typed.
    const range = found.from || found.to || found.date ? { range: null } : { from: query.from, to: query.to, date: query.date };
    change({ ...found, ...range, status: found.status ?? query.status });
  }

  /** Filled by hand: drawing the whole list again would hold up the next key. */
  async function offer({ value, list }, data) {
    typed = value;
    const { known, suggest } = await import("./suggest.js");
    list.replaceChildren(...suggest(value, known(data)).map((text) => new Option("", text)));
  }

  const select = (name, label, value, options) => html`<select aria-label=${label} .value=${value} @change=${(event) =>
    change({ [name]: event.target.value || null })}>
    ${keyed(options, ([id]) => id, ([id, text]) => html`<option value=${id}>${text}</option>`)}
  </select>`;

  /** The offered values, and the current one when it is another (several levels, a name instead of an id). */
  const choices = (all, options, value = "") => [
    ["", all],
    ...options,
    ...(value && !options.some(([id]) => id === value) ? [[value, value]] : []),
  ];

  function toolbar(query, data, time) {
    const { tags, summary, people } = data;
    const levels = choices("Any level", LEVELS.map((name) => [name, ui.level(name)]), query.severity);
    const names = choices("Any tag", [...tags.map(({ id, name }) => [String(id), name]), ["none", "No tag"]], query.tag);
    const modules = choices("Any module", [...summary.modules.map(({ slug, name }) => [slug, name]), ["none", "No module"]], query.module);
    const persons = choices("Anybody", [...people.map(({ id, label }) => [id, label]), ["none", "Nobody"]], query.assignee);
    return html`<form class="toolbar" role="search" @submit=${search}>
      <label class="search">
        <span class="off-screen">Search issues</span>
        <ui-icon name="search"></ui-icon>
        <input id="search" name="q" type="search" maxlength="500" autocomplete="off" list="search-offers" .value=${typed ?? compose(query)}
          @blur=${() => { typed = null; }} @input=${({ target }) => void offer(target, data)} placeholder="An order number, a user, words of a message" />
        <datalist id="search-offers"></datalist>
      </label>
      ${syntax("search", filterWords)}
      ${time}
      ${select("severity", "Level", query.severity ?? "", levels)}
      ${select("tag", "Tag", query.tag ?? "", names)}
      ${summary.modules.length > 0 && select("module", "Module", query.module ?? "", modules)}
      ${people.length > 0 && select("assignee", "Assignee", query.assignee ?? "", persons)}
      ${select("sort", "Sort", query.sort ?? "newest", Object.entries(SORTS))}
    </form>`;
  }

  function tabs(query, summary) {
    const counts = Object.fromEntries(summary.status.map(({ status, groups_count }) => [status, groups_count]));
    const way = (from, status) => ui.link({ ...from, page: null, status });
    // A filter that was chosen just now may wait for its answer: the address has it already, what is drawn has not.
    const tab = (status, label, count) => html`<a class="tab" href=${way(query, status)}
      @click=${({ currentTarget }) => { currentTarget.href = way(ui.query(), status); }} aria-current=${(query.status ?? null) === status ? "true" : null}>${label} <span class="count">${ui.number(count)}</span></a>`;
    return html`<nav class="tabs" aria-label="Status">
      ${tab(null, "All", summary.total.groups_count)}
      ${Object.entries(STATUSES).map(([status, label]) => tab(status, label, counts[status] ?? 0))}
    </nav>`;
  }

  return { toolbar, tabs };
};

// -- the time

const HOUR = 3_600_000;
/** Hours and label by name. @type {Map<string, [number, string]>} */
const RANGES = new Map([
  ["1h", [1, "Last hour"]], ["24h", [24, "Last 24 hours"]], ["7d", [168, "Last 7 days"]], ["30d", [720, "Last 30 days"]],
]);

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const range = (ui, change, hint) => {
  const { html, keyed } = ui;
  const stampAt = (time) => ui.stamp(new Date(time));

  /** The API's `from` and `to` of an address; `range` counts back from now. */
  function limits({ range, from, to }) {
    const hours = RANGES.get(range)?.[0];
    return hours ? { from: stampAt(Date.now() - hours * HOUR), to: undefined } : { from, to };
  }

  const chosen = ({ range, from, to, date }) => Boolean(RANGES.has(range) || from || to || date);
  const none = { range: null, from: null, to: null, date: null };
  const short = (time) => ui.clock(time);

  /** How the chosen range reads: "28 Nov 07:00 to 28 Nov 09:00". */
  function text({ range, from, to, date }) {
    if (RANGES.has(range)) return RANGES.get(range)[1];
    if (date) return date;
    if (from && to) return `${short(from)} to ${short(to)}`;
    return from ? `Since ${short(from)}` : `Before ${short(to)}`;
  }

  function select(query) {
    const other = !RANGES.has(query.range) && chosen(query);
    const options = [["", "Any time"], ...[...RANGES].map(([id, [, label]]) => [id, label]),
      ...(other ? [["chosen", text(query)]] : []), ["dates", "From … to …"]];
    function set({ target }) {
      if (target.value !== "dates") return change({ ...none, range: target.value || null });
      target.value = RANGES.has(query.range) ? query.range : other ? "chosen" : "";
      void open();
    }
    return html`<select aria-label="Time" .value=${other ? "chosen" : RANGES.has(query.range) ? query.range : ""} @change=${set}>
      ${keyed(options, ([id]) => id, ([id, label]) => html`<option value=${id}>${label}</option>`)}
    </select>`;
  }

  /** The form of two dates; fetched when it is asked for, null while nobody does. */
  let asked = null;

  async function open() {
    await ui.widgets();
    asked = (limits) => ui.dates({ ...limits, hint: hint?.() }, (chosen) => {
      asked = null;
      if (chosen) change({ ...none, ...chosen });
      else ui.refresh();
    });
    ui.refresh();
    document.querySelector("#range-from")?.focus();
  }

  const dates = (query) => asked?.(limits(query));

  /** The events of the last 24 hours; a click takes an hour, a drag several. */
  function chart({ hours: values }, query) {
    const count = values.length;
    const first = Math.floor(Date.now() / HOUR) * HOUR - (count - 1) * HOUR;
    const start = (at) => stampAt(first + at * HOUR);
    const pick = (from, to) => change({ ...none, from: start(Math.min(from, to)), to: start(Math.max(from, to) + 1) });
    const total = values.reduce((sum, value) => sum + value, 0);
    return html`<figure class="chart">
      <div class="brush plot" @pointerdown=${(event) => drag(event, count, pick)}>
        <ui-bars class="histogram" values=${values.join()} label="Events per hour, last 24 hours" @pick=${({ detail }) => pick(detail, detail)}
          .titles=${values.map((value, at) => `${ui.clock(start(at))}: ${ui.plural(value, "event")}`)}></ui-bars>
        <div class="brush-range" vars=${marked(limits(query), first, count)}></div>
      </div>
      <figcaption class="axis"><span>${ui.clock(start(0), "time")} ${ui.zone()}</span>
        <span>${ui.plural(total, "event")} in 24 hours${total > 0 && html`<span class="hint">, drag to choose a range</span>`}</span>
        <span>now</span></figcaption>
    </figure>`;
  }

  /** Where the chosen range lies on the chart, as parts of its width. */
  function marked({ from, to }, first, count) {
    const at = (time, otherwise) => Math.min(1, Math.max(0, time ? (+ui.moment(time) - first) / (count * HOUR) : otherwise));
    const [left, right] = from || to ? [at(from, 0), at(to, 1)] : [0, 0];
    return place(left, right);
  }

  const place = (left, right) => ({ "--left": `${(100 * left).toFixed(2)}%`, "--width": `${(100 * (right - left)).toFixed(2)}%` });

  function drag(event, count, pick) {
    if (event.button) return;
    const brush = event.currentTarget;
    const { left, width } = brush.getBoundingClientRect();
    const hour = ({ clientX }) => Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
    const from = hour(event);
    let to = from;
    const stop = new AbortController();
    const listen = (name, run) => document.addEventListener(name, run, { signal: stop.signal });
    listen("pointermove", (moved) => {
      to = hour(moved);
      if (to === from) return;
      const values = place(Math.min(from, to) / count, (Math.max(from, to) + 1) / count);
      for (const [name, value] of Object.entries(values)) brush.lastElementChild.style.setProperty(name, value);
    });
    listen("pointercancel", () => stop.abort());
    listen("pointerup", () => {
      stop.abort();
      if (to !== from) pick(from, to);
    });
  }

  return { chart, chosen, dates, limits, select, text };
};
