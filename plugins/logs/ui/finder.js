// Finding in one log: the box, the list of hits, and the way from one hit or event to the next.

import searching from "./searching.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  const { search, marked, place, state } = searching(ui);
  let found = null;
  let asked = "";
  let shown = true;

  /** Search for what the address says, unless that is what was found already.  @param {import("../../../schemas/dashboard.d.ts").Address} query */
  function open({ id, find, regex, ignore, level }) {
    const address = JSON.stringify([id, find, regex, ignore, level, ui.application()?.id]);
    if (address === asked && found && !found.running) return;
    found?.stop();
    [found, asked] = [null, address];
    if (find) found = search({ pattern: find, source_id: id, regex, ignore_case: ignore, level }, ui.refresh);
  }

  const close = () => found?.stop();

  function submit(event) {
    event.preventDefault();
    const { elements } = event.target;
    const words = { ...ui.query(), find: elements.find.value, regex: elements.regex.checked || null, ignore: elements.ignore.checked || null };
    asked = ""; // the log may have grown
    shown = true;
    if (ui.link(words) === ui.link(ui.query())) void ui.reload();
    else ui.go(words);
  }

  const at = (hit) => ({ ...ui.query(), at: null, line: null, mark: hit.offset });

  /** Go to the hit behind a place of the file, or to the one before it. */
  function step(by, from) {
    const hits = found?.hits ?? [];
    const next = by > 0 ? hits.find(({ offset }) => offset > from) : hits.findLast(({ offset }) => offset < from);
    if (next) ui.go(at(next));
    else if (found) ui.toast(by > 0 ? "No later hit." : "No earlier hit.");
  }

  function cancel() {
    found.stop();
    ui.refresh();
  }

  function toggle() {
    shown = !shown;
    ui.refresh();
  }

  /** The box; `from` gives the place that the next and the previous hit are counted from. */
  const box = (/** @type {import("../../../schemas/dashboard.d.ts").Address} */ { find, regex, ignore }, from) => html`<form class="toolbar" role="search" aria-label="Find in this log" @submit=${submit}>
    <label class="check">Find <input name="find" class="find mono" placeholder="in this log" required maxlength="500" autocomplete="off" .value=${find ?? ""} /></label>
    <label class="check"><input type="checkbox" name="ignore" .checked=${Boolean(ignore)} /> Ignore case</label>
    <label class="check"><input type="checkbox" name="regex" .checked=${Boolean(regex)} /> Regex</label>
    <button class="button">Find</button>
    ${found?.hits.length > 0 && html`<button class="button" type="button" @click=${() => step(-1, from())}>Previous hit</button>
      <button class="button" type="button" @click=${() => step(1, from())}>Next hit</button>`}</form>`;

  const row = (mark) => (hit) => html`<li class="line" aria-current=${String(hit.offset) === mark ? "true" : null}>
    <a class="line-number" href=${ui.link(at(hit))}>${place(hit)}</a>
    <code class="line-text">${marked(hit.text, hit.matches)}${hit.cut && html`<span class="faint"> … cut</span>`}</code></li>`;

  /** What was found. */
  const list = (/** @type {import("../../../schemas/dashboard.d.ts").Address} */ { mark, find }) => find && found && html`<section class="card found" aria-label="Found">
    <div class="toolbar">${state(found, cancel)}
      <button class="button button-plain" type="button" aria-expanded=${shown ? "true" : "false"} @click=${toggle}>${shown ? "Hide the list" : "Show the list"}</button>
      <a class="button button-plain" href=${ui.link({ ...ui.query(), find: null, regex: null, ignore: null })}>Clear</a></div>
    ${shown && found.hits.length > 0 && html`<ol class="lines lines-found" role="list" aria-label="Hits" tabindex="0">${keyed(found.hits, ({ offset }) => offset, row(mark))}</ol>`}</section>`;

  /** A line of the log, with what was found in it marked. */
  function text({ offset, text: line }) {
    const hit = found?.hits.find((one) => one.offset === offset && !one.cut);
    return hit ? marked(line, hit.matches) : line;
  }

  return { open, close, step, box, list, text };
};
