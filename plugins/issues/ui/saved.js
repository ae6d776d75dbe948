// Searches that this browser keeps, and the button that keeps the current one.

import { compose, SORTS, STATUSES, worded } from "./search.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, memory, parameters) => {
  const { html, keyed } = ui;

  /** The part of an address that makes a search; always in one order, so that equal ones are equal. */
  const search = (query) => Object.fromEntries(parameters().filter((name) => query[name]).map((name) => [name, query[name]]));

  const title = (query) => [
    query.status && `is:${query.status.split(",").map((name) => worded(STATUSES, name).toLowerCase().replaceAll(" ", "_")).join()}`,
    compose(query),
    query.range && `last ${query.range}`,
    [query.date, query.from && ui.clock(query.from), query.to && `to ${ui.clock(query.to)}`].filter(Boolean).join(" "),
    query.sort && `by ${worded(SORTS, query.sort).toLowerCase()}`,
  ].filter(Boolean).join(" ");

  const read = () => memory.read("saved", []).filter((query) => query && typeof query === "object");

  function toggle(now, known) {
    const others = read().filter((query) => JSON.stringify(query) !== now);
    memory.write("saved", known ? others : [...others, JSON.parse(now)]);
    ui.refresh();
  }

  return function saved(query) {
    const all = read();
    const now = JSON.stringify(search(query));
    const known = all.some((each) => JSON.stringify(each) === now);
    if (!all.length && now === "{}") return null;
    return html`<p class="saved">${all.length > 0 && html`<span class="faint">Saved</span>`}
      ${keyed(all, (each) => JSON.stringify(each), (each) => html`<a class="saved-search" href=${ui.link(each)}
        aria-current=${JSON.stringify(each) === now ? "true" : null}>${title(each)}</a>`)}
      ${now !== "{}" && html`<button class="button button-plain" @click=${() => toggle(now, known)}>
        ${known ? "Forget this search" : "Save this search"}</button>`}</p>`;
  };
};
