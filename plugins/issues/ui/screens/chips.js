// What the list is narrowed by, each with a way to take it off.

import { levelWords, WORDS } from "../search.js";

const NAMES = {
  severity: "Level", tag: "Tag", module: "Module", source: "Source", log_type: "Type", environment: "Environment", release: "Release", host: "Host",
  user: "User", assignee: "Assignee", origin: "Origin", kind: "Kind", has_stack: "Stack", snoozed: "Snoozed",
};
const YES = { true: "yes", false: "no", none: "none" };
const TIME = { range: null, from: null, to: null, date: null };

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, time) => {
  const { html, keyed } = ui;

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
    const words = Object.keys(WORDS).filter((name) => query[name] && !(name in TIME));
    return [
      ...(query.q ? [{ text: /["“”]/.test(query.q) ? query.q : `“${query.q}”`, without: { q: null } }] : []),
      ...words.map((name) => ({ text: `${NAMES[name] ?? ui.sentence(name)}: ${valueText(name, query[name], data)}`, without: { [name]: null } })),
      ...(time.chosen(query) ? [{ text: time.text(query), without: TIME }] : []),
    ];
  }

  const change = (query, values) => ui.link({ ...query, page: null, ...values });

  return function chips(query, data) {
    const all = chipsOf(query, data);
    if (!all.length) return null;
    return html`<ul class="tags chips" aria-label="Active filters">
      ${keyed(all, ({ without }) => Object.keys(without)[0], ({ text, without }) => html`<li class="chip filter">${text}
        <a class="button button-plain" href=${change(query, without)} aria-label=${`Remove the filter ${text}`}><ui-icon name="close"></ui-icon></a></li>`)}
      <li><a href=${ui.link({ status: query.status, sort: query.sort })}>Clear filters</a></li></ul>`;
  };
};
