// Searches that this browser keeps, each under a name.

import { compose, SORTS, STATUSES, worded } from "../search.js";

const LONGEST = 60;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, memory, parameters, time) => {
  const { html, keyed } = ui;

  /** The part of an address that makes a search; always in one order, so that equal ones are equal. */
  const search = (query) => Object.fromEntries(parameters().filter((name) => query[name]).map((name) => [name, query[name]]));
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  /** What a search is called until somebody names it. */
  const titleOf = (query) => [
    query.status && query.status.split(",").map((name) => (name === "all" ? "All" : worded(STATUSES, name))).join(" or "),
    compose(query),
    time.chosen(query) && time.text(query),
    query.sort && `by ${worded(SORTS, query.sort).toLowerCase()}`,
  ].filter(Boolean).join(", ");

  /** What is kept: `{ name, query }`. Earlier versions kept the query alone. */
  const read = () => memory.read("saved", []).filter((each) => each && typeof each === "object")
    .map((each) => (each.query && typeof each.query === "object" ? each : { query: each }))
    .map(({ name, query }) => ({ name: typeof name === "string" ? name : titleOf(query), query }));

  function write(all) {
    memory.write("saved", all);
    ui.refresh();
  }

  function save(event, now) {
    event.preventDefault();
    const name = event.target.elements.name.value.trim() || titleOf(now);
    write([...read().filter(({ query }) => !same(query, now)), { name, query: now }]);
    ui.toast(`Saved as “${name}” in this browser`);
  }

  const forget = (one) => write(read().filter(({ query }) => !same(query, one)));

  const line = ({ name, query }, now) => html`<li><a class="saved-search" href=${ui.link(query)} aria-current=${same(query, now) ? "true" : null}>${name}</a>
    <button class="button button-plain" type="button" aria-label=${`Forget the search ${name}`} @click=${() => forget(query)}><ui-icon name="close"></ui-icon></button></li>`;

  return function saved(query) {
    const [all, now] = [read(), search(query)];
    const empty = !Object.keys(now).length;
    return html`<h2>Saved searches</h2>
      ${all.length > 0 ? html`<ul class="saved">${keyed(all, (each) => JSON.stringify(each.query), (each) => line(each, now))}</ul>` : html`<p class="faint">None yet.</p>`}
      ${empty ? html`<p class="faint">Filter or sort the list to save how it is.</p>` : html`<form class="toolbar" aria-label="Save this search" @submit=${(event) => save(event, now)}>
        <input name="name" aria-label="Name of this search" maxlength=${LONGEST} placeholder=${titleOf(now)} autocomplete="off" /> <button class="button button-main">Save</button></form>`}`;
  };
};
