// The raw lines of a source: from the end, from a line, or from a place; earlier and later ones, and live.

import howRead from "../reading.js";

const LINES = 200;
const MOST = 3000; // lines kept on the page
const GUESS = 120; // bytes of a line, until lines were seen
const SECONDS = 2;
const WORDS = /\b(EMERG(?:ENCY)?|ALERT|CRIT(?:ICAL)?|FATAL|PANIC|ERROR|ERR|WARN(?:ING)?|NOTICE|INFO|DEBUG|TRACE)\b/i;
const LEVELS = {
  EMERG: "EMERGENCY", EMERGENCY: "EMERGENCY", PANIC: "EMERGENCY", ALERT: "ALERT", CRIT: "CRITICAL", CRITICAL: "CRITICAL", FATAL: "CRITICAL",
  ERROR: "ERROR", ERR: "ERROR", WARN: "WARNING", WARNING: "WARNING", NOTICE: "NOTICE", INFO: "INFO", DEBUG: "DEBUG", TRACE: "DEBUG",
};
const REQUEST = /" ([45])\d\d /; // the status of an access line
const HEADER = 160; // the level stands in the first characters of a line

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed, api } = ui;
  const how = howRead(ui);
  /** The lines shown, the place behind the last one, the number of the first one when it is known. */
  let state = null;
  let live = false;
  let reading = false;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ id, at, line }, options) {
    const place = line ? { line } : at ? { offset: at } : { tail: true };
    const page = await api("source", { source_id: id, lines: LINES, ...place }, options);
    const end = page.next_offset ?? page.size;
    state = { ...page, id, path: page.path, size: page.size, lines: page.lines, end, first: line ? Number(line) : page.offset === 0 ? 1 : null };
    return state;
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
    state.size = page.size;
    state.end = page.next_offset ?? page.size;
    ui.refresh();
    return grown;
  }

  async function earlier() {
    const before = state.lines[0]?.offset ?? 0;
    const mean = state.lines.length > 1 ? (state.lines.at(-1).offset - before) / (state.lines.length - 1) : GUESS;
    let found = [];
    let offset = Math.max(0, Math.floor(before - LINES * mean));
    while (offset < before) {
      const page = await api("source", { source_id: state.id, offset, lines: 1000 });
      found.push(...page.lines.filter((line) => line.offset < before));
      if (page.next_offset === null) break;
      offset = page.next_offset;
    }
    found = found.slice(-LINES);
    const height = document.documentElement.scrollHeight;
    state.lines = [...found, ...state.lines];
    if (state.lines[0]?.offset === 0) state.first = 1;
    else state.first = state.first && state.first - found.length;
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

  /** Twice: lines that were never on the screen have only a guessed height. */
  function bottom() {
    const last = () => document.querySelector(".line:last-child")?.scrollIntoView({ block: "end" });
    last();
    requestAnimationFrame(last);
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
    const [, sign, number, share] = /^(@?)(\d+)(%?)$/.exec(text) ?? [];
    if (!number) return ui.toast("Type a line number, a share like 50%, or a byte like @4096.", { error: true });
    live = false;
    if (share) ui.go({ ...ui.query(), line: null, at: Math.floor((state.size * Math.min(100, Number(number))) / 100) });
    else if (sign) ui.go({ ...ui.query(), line: null, at: number });
    else ui.go({ ...ui.query(), at: null, line: Math.max(1, Number(number)) });
  }

  const openIssue = (occurrence) => guarded(async () => {
    const { group_id: id } = await api("source", { occurrence });
    ui.go({ view: "issue", id, occurrence });
  });

  /** Each line with the level it has, or that the line before it handed down. */
  function levelled(lines) {
    let level = null;
    let event = null;
    return lines.map((line) => {
      const word = REQUEST.test(line.text) ? { 4: "WARNING", 5: "ERROR" }[REQUEST.exec(line.text)[1]] : WORDS.exec(line.text.slice(0, HEADER))?.[1].toUpperCase();
      const goes = /^\s/.test(line.text) || (line.occurrence && line.occurrence === event);
      if (!goes) level = word ? LEVELS[word] : null;
      const opens = line.occurrence && line.occurrence !== event;
      event = line.occurrence;
      return { ...line, level, opens };
    });
  }

  const row = (line, at) => html`<li class="line" data-level=${line.level} id=${`at-${line.offset}`}>
    <a class="line-number" href=${ui.link({ view: "source", id: state.id, ...(state.first ? { line: state.first + at } : { at: line.offset }) })}
      title=${`Byte ${line.offset}`}>${state.first ? ui.number(state.first + at) : "·"}</a>
    ${line.opens ? html`<button class="line-event" type="button" title="Show the issue" aria-label="Show the issue of this line" @click=${() => openIssue(line.occurrence)}><ui-icon name="next"></ui-icon></button>` : html`<span class="line-event"></span>`}
    <code class="line-text">${line.text}</code></li>`;

  const bar = () => html`<div class="toolbar source-bar">
    <form class="toolbar" aria-label="Go to" @submit=${jump}><label class="check">Go to
      <input name="place" class="place" placeholder="line, 50%, @byte" autocomplete="off" required /></label><button class="button">Go</button></form>
    <a class="button" href=${ui.link({ view: "source", id: state.id, at: "0" })}>Start</a>
    <a class="button" href=${ui.link({ view: "source", id: state.id })}>End</a>
    <button class="button" type="button" aria-pressed=${live ? "true" : "false"} @click=${toggle}>${live && html`<span class="pulse"></span>`} Live</button>
  </div>`;

  return {
    load,
    heading: (data) => data?.path,
    open({ at, line }) {
      if (!at && !line) bottom();
      const timer = setInterval(() => live && !document.hidden && void guarded(follow), SECONDS * 1000);
      return () => clearInterval(timer);
    },
    keys: [
      { key: "f", label: "Live on or off", run: toggle },
      { key: "/", label: "Go to a line", run: () => document.querySelector(".place").focus() },
      { key: "u", label: "Back to all logs", run: () => ui.go({ view: "sources" }) },
    ],
    render: (data) => html`<p class="crumbs"><a href=${ui.link({ view: "sources" })}>Logs</a></p>
      <div class="head"><h1 tabindex="-1" class="mono">${data.path}</h1><span class="faint">${ui.bytes(data.size)}</span></div>
      ${how.whole(data)}
      ${bar()}
      ${data.lines[0]?.offset > 0 && html`<p><button class="button" type="button" @click=${() => guarded(earlier)}>Earlier lines</button></p>`}
      ${data.lines.length
        ? html`<ol class="lines" role="list" aria-label="Lines" tabindex="0">${keyed(levelled(data.lines), ({ offset }) => offset, row)}</ol>`
        : html`<p class="card notice">There is no line here.</p>`}
      ${data.end < data.size && html`<p><button class="button" type="button" @click=${() => guarded(later)}>Later lines</button></p>`}`,
  };
};
