// The raw lines of a source: from the end, from a line, or from a place; earlier and later ones, live, and what is found.

import finder from "../finder.js";
import { levelled, named, ofLevel, picker } from "../levels.js";
import howRead from "../reading.js";
import { bottom, here, showLine, wrapping } from "../view.js";

const LINES = 200;
const MOST = 3000; // lines kept on the page
const GUESS = 120; // bytes of a line, until lines were seen
const LEAD = 12; // lines before the one that was gone to
const SECONDS = 2;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed, api } = ui;
  const how = howRead(ui);
  const find = finder(ui);
  const wrap = wrapping(ui);
  /** The lines shown, the place behind the last one, the number of the first one when it is known. */
  let state = null;
  let live = false, reading = false;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ id, at, line, mark }, options) {
    const place = line ? { line } : mark ? { offset: mark } : at ? { offset: at } : { tail: true };
    const page = await api("source", { source_id: id, lines: LINES, numbered: true, ...place }, options);
    state = { ...page, id, end: page.next_offset ?? page.size, first: page.line };
    if (mark) put(await before(LEAD, options));
    return state;
  }

  /** The lines before the first one. */
  async function before(count, options) {
    const first = state.lines[0]?.offset ?? 0;
    const mean = state.lines.length > 1 ? (state.lines.at(-1).offset - first) / (state.lines.length - 1) : GUESS;
    const found = [];
    let offset = Math.max(0, Math.floor(first - count * mean * 2));
    while (offset < first) {
      const page = await api("source", { source_id: state.id, offset, lines: 1000 }, options);
      found.push(...page.lines.filter((line) => line.offset < first));
      if (page.next_offset === null) break;
      offset = page.next_offset;
    }
    return found.slice(-count);
  }

  /** Show lines before the first one. */
  function put(lines) {
    state.lines = [...lines, ...state.lines];
    if (state.lines[0]?.offset === 0) state.first = 1;
    else state.first = state.first && state.first - lines.length;
  }

  /** Add the lines behind the last one; true when there were some. */
  async function later() {
    const page = await api("source", { source_id: state.id, offset: state.end, lines: LINES });
    // A line that was not finished when it was read comes again, whole.
    const from = page.offset;
    const kept = state.lines.filter(({ offset }) => offset < from);
    const grown = page.size !== state.size || page.lines.length > 0;
    state.lines = [...kept, ...page.lines];
    const extra = state.lines.length - MOST;
    if (extra > 0) {
      state.lines = state.lines.slice(extra);
      if (state.first) state.first += extra;
    }
    Object.assign(state, { size: page.size, end: page.next_offset ?? page.size });
    ui.refresh();
    return grown;
  }

  async function earlier() {
    const lines = await before(LINES);
    const height = document.documentElement.scrollHeight;
    put(lines);
    ui.refresh();
    scrollBy(0, document.documentElement.scrollHeight - height);
  }

  async function guarded(work) {
    if (reading) return;
    reading = true;
    try {
      await work();
    } catch (error) {
      live = false;
      ui.toast(error.message, { error: true });
      ui.refresh();
    }
    reading = false;
  }

  async function follow() {
    const near = innerHeight + scrollY > document.documentElement.scrollHeight - 80;
    if ((await later()) && near) bottom();
  }

  function toggle() {
    live = !live;
    ui.refresh();
    if (live) void guarded(async () => {
      while (state.end < state.size && (await later()));
      bottom();
    });
  }

  /** "1200" is a line, "50%" a share of the file, "@4096" a byte. */
  function jump(event) {
    event.preventDefault();
    const text = event.target.elements.place.value.trim();
    const query = { ...ui.query(), line: null, at: null, mark: null };
    const [, sign, number, share] = /^(@?)(\d+)(%?)$/.exec(text) ?? [];
    if (!number) return ui.toast("Type a line number, a share like 50%, or a byte like @4096.", { error: true });
    live = false;
    if (share) ui.go({ ...query, at: Math.floor((state.size * Math.min(100, Number(number))) / 100) });
    else if (sign) ui.go({ ...query, at: number });
    else ui.go({ ...query, line: Math.max(1, Number(number)) });
  }

  /** Go to the next or the previous stored event of the chosen level or a worse one. */
  const toEvent = (event) => guarded(async () => {
    const { level } = ui.query();
    const page = await api("source", { source_id: state.id, event, offset: here(ui), level: level || "ERROR", lines: 1 });
    ui.go({ ...ui.query(), at: null, line: null, mark: page.offset });
  });

  const openIssue = (occurrence) => guarded(async () => {
    const { group_id: id } = await api("source", { occurrence });
    ui.go({ view: "issue", id, occurrence });
  });

  const address = ({ number, offset }) => ui.link({ ...ui.query(), at: null, line: null, mark: null, ...(number ? { line: number } : { at: offset }) });

  const row = (mark) => (line) => html`<li class="line" data-level=${line.level} id=${`at-${line.offset}`} aria-current=${String(line.offset) === mark ? "true" : null}>
    <a class="line-number" href=${address(line)} title=${`@${line.offset}`}>${line.number ? ui.number(line.number) : `@${line.offset}`}</a>
    ${line.opens ? html`<button class="line-event" type="button" title="Show the issue" aria-label="Show the issue of this line" @click=${() => openIssue(line.occurrence)}><ui-icon name="next"></ui-icon></button>` : html`<span class="line-event"></span>`}
    <code class="line-text">${find.text(line)}</code></li>`;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const bar = (query) => html`<div class="source-bar">
    <div class="toolbar">${find.box(query, () => here(ui))}</div>
    <div class="toolbar">
      <form class="toolbar" aria-label="Go to" @submit=${jump}><label class="check">Go to
        <input name="place" class="place" placeholder="line, 50%, @byte" autocomplete="off" required /></label><button class="button">Go</button></form>
      <a class="button" href=${ui.link({ ...query, at: "0", line: null, mark: null })}>Start</a>
      <a class="button" href=${ui.link({ ...query, at: null, line: null, mark: null })}>End</a>
      <button class="button" type="button" @click=${() => toEvent("previous")}>Previous ${named(ui, query.level)}</button>
      <button class="button" type="button" @click=${() => toEvent("next")}>Next ${named(ui, query.level)}</button>
      ${picker(ui, query.level)}
      <button class="button" type="button" aria-pressed=${wrap.on() ? "true" : "false"} @click=${wrap.turn}>Wrap</button>
      <button class="button" type="button" aria-pressed=${live ? "true" : "false"} @click=${toggle}>${live && html`<span class="pulse"></span>`} Live</button>
    </div>
  </div>`;

  /** @param {any} data  @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  function lines(data, { level, mark }) {
    const numbered = data.lines.map((line, at) => ({ ...line, number: state.first && state.first + at }));
    const shown = ofLevel(levelled(numbered), level);
    if (shown.length) {
      return html`<ol class=${wrap.on() ? "lines log" : "lines log lines-long"} role="list" aria-label="Lines" tabindex="0">${keyed(shown, ({ offset }) => offset, row(mark))}</ol>`;
    }
    return html`<p class="card notice">${data.lines.length ? `None of these ${ui.plural(data.lines.length, "line")} is ${ui.level(level)} or worse.` : "There is no line here."}</p>`;
  }

  return {
    load,
    heading: (data) => data?.path,
    open(query) {
      const { at, line, mark } = query;
      find.open(query);
      if (mark) showLine(mark);
      else if (!at && !line) bottom();
      const timer = setInterval(() => live && !document.hidden && void guarded(follow), SECONDS * 1000);
      return () => {
        clearInterval(timer);
        find.close();
      };
    },
    keys: [
      { key: "f", label: "Live on or off", run: toggle },
      { key: "F", label: "Find in this log", run: () => document.querySelector(".find").select() },
      { key: "n", label: "Next hit", run: () => find.step(1, here(ui)) },
      { key: "p", label: "Previous hit", run: () => find.step(-1, here(ui)) },
      { key: "]", label: "Next error", run: () => toEvent("next") },
      { key: "[", label: "Previous error", run: () => toEvent("previous") },
      { key: "w", label: "Wrap lines or not", run: wrap.turn },
      { key: "/", label: "Go to a line", run: () => document.querySelector(".place").focus() },
      { key: "u", label: "Back to all logs", run: () => ui.go({ view: "sources" }) },
    ],
    render: (data, query) => html`<p class="crumbs"><a href=${ui.link({ view: "sources" })}>Logs</a></p>
      <div class="head"><h1 tabindex="-1" class="mono">${data.path}</h1><span class="faint">${ui.bytes(data.size)}</span></div>
      ${how.whole(data)}
      ${bar(query)}
      ${find.list(query)}
      ${data.lines[0]?.offset > 0 && html`<p><button class="button" type="button" @click=${() => guarded(earlier)}>Earlier lines</button></p>`}
      ${lines(data, query)}
      ${data.end < data.size && html`<p><button class="button" type="button" @click=${() => guarded(later)}>Later lines</button></p>`}`,
  };
};
