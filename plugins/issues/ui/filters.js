// What the list is filtered by: the search field with suggestions, the selects, and the tabs of the statuses.

import { LEVELS, parse, phrase, SORTS, STATUSES, syntaxOf, WORSE } from "./search.js";

const PAUSE = 600; // after the last letter, before it is searched for

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const filters = (ui, change) => {
  const { html, keyed } = ui;
  const syntax = syntaxOf(ui);
  const filterWords = html`You can mix in filters: <code>level:error</code> <code>tag:payments</code> <code>env:staging</code> <code>stack:true</code>.`;
  /** What is being typed into the search field and was not searched for yet; an answer that comes now leaves it alone. */
  let typed = null;
  let waiting = 0;
  /** True: the address was written while typing, and is written over by what is typed next. */
  let going = false;
  /** On a phone: whether the selects show. */
  let unfolded = false;

  /** Search for a text: its words take the place of those before, its filters are added to those that are there. */
  function search(text, options) {
    const query = ui.query();
    const found = Object.fromEntries(Object.entries(parse(text)).filter(([name, value]) => value || name === "q"));
    const range = found.from || found.to || found.date ? { range: null, from: null, to: null, date: null } : {};
    const next = { ...range, ...found };
    if (Object.entries(next).some(([name, value]) => (query[name] ?? null) !== value)) change(next, options);
  }

  function submit(event) {
    event.preventDefault();
    clearTimeout(waiting);
    [typed, going] = [null, false];
    search(new FormData(event.target).get("q"));
    ui.refresh();
  }

  /** Search while somebody pauses, but not in the middle of a filter. */
  function pause(text) {
    clearTimeout(waiting);
    if (/(^|\s)[a-z_]+:\S*$/i.test(text)) return;
    waiting = setTimeout(() => {
      if (typed !== text) return;
      search(text, { replace: going });
      going = true;
    }, PAUSE);
  }

  /** Filled by hand: drawing the whole list again would hold up the next key. */
  async function offer({ value, list }, data) {
    typed = value;
    pause(value);
    const { known, suggest } = await import("./suggest.js");
    list.replaceChildren(...suggest(value, known(data)).map((text) => new Option("", text)));
  }

  function leave() {
    clearTimeout(waiting);
    [typed, going] = [null, false];
  }

  function unfold() {
    unfolded = !unfolded;
    ui.refresh();
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

  function toolbar(query, data, time, saved) {
    const { tags, summary, people, problem } = data;
    const levels = choices("Any level", [[WORSE, "Error and worse"], ...LEVELS.map((name) => [name, ui.level(name)])], query.severity);
    const names = choices("Any tag", [...tags.map(({ id, name }) => [String(id), name]), ["none", "No tag"]], query.tag);
    const modules = choices("Any module", [...summary.modules.map(({ slug, name }) => [slug, name]), ["none", "No module"]], query.module);
    const persons = choices("Anybody", [...people.map(({ id, label }) => [id, label]), ["none", "Nobody"]], query.assignee);
    return html`<form class=${unfolded ? "toolbar filters filters-open" : "toolbar filters"} role="search" @submit=${submit}>
      <label class="search">
        <span class="off-screen">Search issues</span>
        <ui-icon name="search"></ui-icon>
        <input id="search" name="q" type="search" maxlength="500" autocomplete="off" list="search-offers" .value=${typed ?? phrase(query.q ?? "")}
          aria-invalid=${problem ? "true" : null} aria-describedby=${problem ? "search-problem" : null}
          @blur=${leave} @input=${({ target }) => void offer(target, data)} placeholder="An order number, a user, words of a message" />
        <kbd class="search-hint" title="Press Enter to search">Enter</kbd>
        <datalist id="search-offers"></datalist>
      </label>
      ${syntax("search", filterWords)}
      <button class="button filters-button" type="button" aria-expanded=${unfolded ? "true" : "false"} @click=${unfold}>Filters</button>
      ${time}
      ${select("severity", "Level", query.severity ?? "", levels)}
      ${select("tag", "Tag", query.tag ?? "", names)}
      ${summary.modules.length > 0 && select("module", "Module", query.module ?? "", modules)}
      ${people.length > 0 && select("assignee", "Assignee", query.assignee ?? "", persons)}
      ${select("sort", "Sort", query.sort ?? "newest", Object.entries(SORTS))}
      ${saved}
    </form>
    ${problem && html`<p id="search-problem" class="problem" role="alert">${problem}</p>`}`;
  }

  /** The statuses, each with what the other filters find in it. */
  function tabs(query, found) {
    const { statuses = [], statuses_exact: exact, total, total_exact: totalExact } = found ?? {};
    const counts = Object.fromEntries(statuses.map(({ status, groups_count }) => [status, groups_count]));
    const of = (names) => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    const way = (from, status) => ui.link({ ...from, page: null, status });
    const current = query.status === "unresolved" ? null : (query.status ?? null);
    /** Of very many issues only the number under the tab that is open is counted by itself. */
    const counted = (open, count) => found && (exact ? ui.number(count) : open ? `${ui.number(total)}${totalExact ? "" : "+"}` : count > 0 && `${ui.number(count)}+`);
    // A filter that was chosen just now may wait for its answer: the address has it already, what is drawn has not.
    const tab = (status, label, count) => html`<a class="tab" href=${way(query, status)}
      @click=${({ currentTarget }) => { currentTarget.href = way(ui.query(), status); }} aria-current=${current === status ? "true" : null}>${label} <span class="count">${counted(status === current, count)}</span></a>`;
    return html`<nav class="tabs" aria-label="Status">
      ${tab(null, "Unresolved", of(["open", "in_progress", "reoccurred"]))}
      ${tab("all", "All", of(Object.keys(STATUSES)))}
      ${Object.entries(STATUSES).map(([status, label]) => tab(status, label, of([status])))}
    </nav>`;
  }

  return { toolbar, tabs };
};
