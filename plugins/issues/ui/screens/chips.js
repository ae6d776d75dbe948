// What a list is narrowed by, each with a way to take it off: the issues of the list, the events of an issue.

import { ANY_TIME } from "../range.js";
import { CURLY, levelWords, WORDS } from "../search.js";

const NAMES = {
  severity: "Level", tag: "Tag", module: "Module", source: "Source", log_type: "Type", environment: "Environment", release: "Release", host: "Host",
  user: "User", assignee: "Assignee", origin: "Origin", kind: "Kind", has_stack: "Stack", snoozed: "Snoozed",
};
const YES = { true: "yes", false: "no", none: "none" };

/** How a filter reads: "Level: Error". */
export const chipText = (ui, name, value) => `${NAMES[name] ?? ui.sentence(name)}: ${value}`;

/** How the words of a search read; in quotation marks of their own where they have none. */
export const wordsText = (q) => (q.replaceAll(CURLY, '"').includes('"') ? q : `“${q}”`);

/**
 * The filters, each `{ text, without }`; `way(without)` is the address without one, `clear` the one without any, and
 * `click` is called before either is followed.
 * @param {import("../../../../schemas/dashboard.d.ts").Ui} ui
 */
export const chipList = ({ html, keyed }, filters, { way, clear, click = null }) => html`<ul class="tags chips" aria-label="Active filters">
  ${keyed(filters, ({ without }) => JSON.stringify(without), ({ text, without }) => html`<li class="chip filter">${text}
    <a class="button button-plain" href=${way(without)} aria-label=${`Remove the filter ${text}`} @click=${click}><ui-icon name="close"></ui-icon></a></li>`)}
  <li><a href=${clear} @click=${click}>Clear filters</a></li></ul>`;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, time) => {
  /** How a value reads; ids are named where the page knows the names. */
  function valueText(name, value, { tags, people, summary }) {
    if (name === "severity") return levelWords(ui, value);
    const named = {
      tag: (one) => tags.find(({ id }) => String(id) === one)?.name,
      module: (one) => summary.modules.find(({ slug }) => slug === one)?.name,
      assignee: (one) => people.find(({ id }) => id === one)?.label,
    }[name];
    return name === "tag" ? value.split(",").map((one) => named(one) ?? YES[one] ?? one).join(" or ") : named?.(value) ?? YES[value] ?? value;
  }

  function chipsOf(query, data) {
    const words = Object.keys(WORDS).filter((name) => query[name] && !(name in ANY_TIME));
    return [
      ...(query.q ? [{ text: wordsText(query.q), without: { q: null } }] : []),
      ...words.map((name) => ({ text: chipText(ui, name, valueText(name, query[name], data)), without: { [name]: null } })),
      ...(time.chosen(query) ? [{ text: time.text(query), without: ANY_TIME }] : []),
    ];
  }

  return function chips(query, data) {
    const filters = chipsOf(query, data);
    const way = (without) => ui.link({ ...query, page: null, ...without });
    return filters.length > 0 ? chipList(ui, filters, { way, clear: ui.link({ status: query.status, sort: query.sort }) }) : null;
  };
};
