// Search logs: lines of all logs that are still there, by a text or a pattern.

import searching from "../searching.js";

const LEVELS = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];
const AGES = [["", "any time"], ["1", "the last hour"], ["24", "the last 24 hours"], ["168", "the last 7 days"], ["720", "the last 30 days"]];
const [CHOSEN, DATES] = ["chosen", "dates"]; // in place of an age
const HOUR = 3_600_000;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed } = ui;
  const { search, marked, place, state } = searching(ui);
  /** The search that is shown; it is kept while its hits are looked at. */
  let found = null;
  let asked = "";
  const times = ui.dates();

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const wanted = ({ q, regex, ignore, source, level, hours, from, to }) => ({
    pattern: q, regex, source, level, ignore_case: ignore,
    since: hours ? ui.stamp(new Date(Date.now() - Number(hours) * HOUR)) : from, until: hours ? undefined : to,
  });

  function open(query) {
    const { q, regex, ignore, source, level, hours, from, to } = query;
    const address = JSON.stringify([q, regex, ignore, source, level, hours, from, to, ui.application()?.id]);
    if (address === asked && found && !found.running) return;
    found?.stop();
    found = null;
    asked = address;
    if (!q) return void document.querySelector(".search-text")?.focus();
    found = search(wanted(query), ui.refresh);
    return () => found?.stop();
  }

  function submit(event) {
    event.preventDefault();
    const { elements } = event.target;
    asked = ""; // the same words may find more by now
    const { from, to } = ui.query();
    const range = elements.hours.value === CHOSEN ? { from, to } : { hours: elements.hours.value };
    const words = { view: "log-search", q: elements.q.value, source: elements.source.value.trim(), level: elements.level.value, ...range,
      regex: elements.regex.checked || null, ignore: elements.ignore.checked || null };
    if (ui.link(words) === ui.link(ui.query())) void ui.reload();
    else ui.go(words);
  }

  /** How a range of two times reads. */
  const rangeText = ({ from, to }) => [from ? ui.clock(from) : "the beginning", to ? ui.clock(to) : "now"].join(" to ");

  function openTimes({ target }) {
    if (target.value !== DATES) return;
    const query = ui.query();
    target.value = query.from || query.to ? CHOSEN : (query.hours ?? "");
    void times.open({ from: query.from, to: query.to }, (range) => ui.go({ ...ui.query(), hours: null, ...range }));
  }

  const options = (list, chosen) => list.map(([value, label]) => html`<option value=${value} ?selected=${value === (chosen ?? "")}>${label}</option>`);

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const form = ({ q, regex, ignore, source, level, hours, from, to }) => html`<form class="card search-form" role="search" aria-label="Search logs" @submit=${submit}>
    <div class="toolbar"><input class="search-text mono" name="q" aria-label="Text to find" placeholder="An order number, an address, a part of a message" required maxlength="500" autocomplete="off" .value=${q ?? ""} />
      <button class="button button-main">Search</button></div>
    <div class="toolbar">
      <label class="check"><input type="checkbox" name="ignore" .checked=${Boolean(ignore)} /> Ignore case</label>
      <label class="check"><input type="checkbox" name="regex" .checked=${Boolean(regex)} /> Regular expression</label>
      <label class="check">Level <select name="level">${options([["", "any"], ...LEVELS.map((name) => [name, name === "EMERGENCY" ? ui.level(name) : `${ui.level(name)} or worse`])], level)}</select></label>
      <label class="check">Time <select name="hours" @change=${openTimes}>${options([...AGES, ...(!hours && (from || to) ? [[CHOSEN, rangeText({ from, to })]] : []),
        [DATES, "From … to …"]], !hours && (from || to) ? CHOSEN : hours)}</select></label>
      <label class="check">Log <input name="source" placeholder="any, or part of a path" maxlength="500" autocomplete="off" .value=${source ?? ""} /></label></div>
  </form>`;

  /** The hits, under the log that they are in. */
  function groups(hits) {
    const logs = [];
    for (const hit of hits) {
      if (logs.at(-1)?.id !== hit.source_id) logs.push({ id: hit.source_id, path: hit.path, hits: [] });
      logs.at(-1).hits.push(hit);
    }
    return logs;
  }

  const row = (query) => (hit) => html`<li class="line" data-level=${hit.level}>
    <a class="line-number" href=${ui.link({ view: "source", id: hit.source_id, mark: hit.offset, find: query.q, regex: query.regex, ignore: query.ignore, level: query.level })}
      title="Open the log at this line">${place(hit)}</a>
    ${hit.issue_id ? html`<a class="line-event" title="Show the issue" aria-label="Show the issue of this line"
      href=${ui.link({ view: "issue", id: hit.issue_id, occurrence: hit.occurrence })}><ui-icon name="next"></ui-icon></a>` : html`<span class="line-event"></span>`}
    <code class="line-text">${marked(hit.text, hit.matches)}${hit.cut && html`<span class="faint"> … cut</span>`}</code></li>`;

  const log = (query) => ({ id, path, hits }) => html`<section class="found-log"><h2 class="mono"><a href=${ui.link({ view: "source", id, find: query.q, regex: query.regex, ignore: query.ignore, level: query.level })}>${path}</a>
      <span class="faint">${ui.plural(hits.length, "hit")}</span></h2>
    <ol class="lines" role="list" aria-label=${`Hits in ${path}`}>${keyed(hits, ({ offset }) => offset, row(query))}</ol></section>`;

  function cancel() {
    found.stop();
    ui.refresh();
  }

  return {
    load: () => ({}),
    heading: () => "Search logs",
    open,
    keys: [
      { key: "/", label: "Search", run: () => document.querySelector(".search-text").select() },
      { key: "u", label: "Back to all logs", run: () => ui.go({ view: "sources" }) },
    ],
    render: (_data, query) => html`<p class="crumbs"><a href=${ui.link({ view: "sources" })}>Logs</a></p>
      <div class="head"><h1 tabindex="-1">Search logs</h1></div>
      ${form(query)} ${times.view()}
      ${found && state(found, cancel)}
      ${found && keyed(groups(found.hits), ({ id }) => id, log(query))}
      ${!query.q && html`<p class="faint">Looks through the lines of every log that was read and is still there, compressed ones too.</p>`}`,
  };
};
