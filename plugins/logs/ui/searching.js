// A search in raw lines, step by step: the service is asked on until enough was found, and not asked on to cancel.

const ENOUGH = 300; // hits, until more are asked for

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  /** Start a search; `changed` is called after each step. */
  function search(query, changed) {
    const found = { query, hits: [], unsearched: [], progress: null, cursor: null, running: true, problem: null, most: ENOUGH, stop, more, run };
    let controller = null;

    async function run() {
      controller = new AbortController();
      const { signal } = controller;
      found.running = true;
      found.problem = null;
      changed();
      try {
        do {
          const answer = await ui.api("source-search", { ...query, limit: 100, cursor: found.cursor }, { signal });
          found.hits.push(...answer.hits);
          found.unsearched.push(...answer.unsearched);
          found.progress = answer.progress;
          found.cursor = answer.cursor;
          changed();
        } while (found.cursor && found.hits.length < found.most && !signal.aborted);
      } catch (error) {
        if (!signal.aborted) found.problem = error.message;
      }
      if (controller?.signal === signal) found.running = false;
      changed();
    }

    function stop() {
      controller?.abort();
      controller = null;
      found.running = false;
    }

    function more() {
      found.most = found.hits.length + ENOUGH;
      void run();
    }

    queueMicrotask(run); // whoever asked has what is returned by then, and can draw it
    return found;
  }

  /** A text with its matches marked; places are counted in characters, not in the units of strings. */
  function marked(text, matches) {
    const characters = Array.from(text);
    const parts = [];
    let at = 0;
    for (const [first, end] of matches) {
      parts.push(characters.slice(at, first).join(""), html`<mark>${characters.slice(first, end).join("")}</mark>`);
      at = end;
    }
    return [...parts, characters.slice(at).join("")];
  }

  const place = ({ line, offset }) => (line === null ? `@${offset}` : ui.number(line));

  /** What was searched so far, in words, and the buttons that stop it and go on. */
  function state(found, cancel) {
    const { hits, progress, cursor, running, problem, unsearched } = found;
    if (problem) return html`<div class="card notice"><p role="alert">${problem}</p>
      <p><button class="button" type="button" @click=${found.run}>Try again</button></p></div>`;
    const sum = ui.plural(hits.length, "hit");
    const share = progress && `${ui.bytes(progress.bytes)} of ${ui.bytes(progress.all_bytes)}`;
    return html`<div class="found-state" role="status">
      ${running ? html`<span class="pulse"></span> ${sum} so far · ${share ?? "searching"}${progress?.path && html` · <span class="mono faint">${progress.path}</span>`}`
        : html`${hits.length ? sum : "Nothing was found"}${cursor && ` in the first ${share}`}${!cursor && progress && html` <span class="faint">in ${ui.plural(progress.files, "log")}, ${ui.bytes(progress.searched_bytes)} looked through</span>`}`}
      ${running ? html`<button class="button" type="button" @click=${cancel}>Stop</button>` : cursor && html`<button class="button" type="button" @click=${found.more}>Search on</button>`}
      ${unsearched.length > 0 && html`<details><summary>${ui.plural(unsearched.length, "log")} could not be searched</summary>
        <ul>${unsearched.map(({ path, reason }) => html`<li><span class="mono">${path}</span> ${reason}</li>`)}</ul></details>`}
    </div>`;
  }

  return { search, marked, place, state };
};
