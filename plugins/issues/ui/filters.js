// What the list is filtered by: the search field with suggestions, the selects, the tabs of the statuses.

import { compose, parse } from "./search.js";
import { LEVELS, SORTS, STATUSES } from "./words.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, change) => {
  const { html, keyed } = ui;
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
          @blur=${() => { typed = null; }} @input=${({ target }) => void offer(target, data)} placeholder="Search, or level:error tag:payments source:billing" />
        <datalist id="search-offers"></datalist>
      </label>
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
