// What a search says of itself: where it looked, how many events of an issue have its words, and what else there is when it
// finds nothing.

const EVERYWHERE = "titles, messages, exceptions, stacks, tags, files and all values of events";
const PLACES = { value: "the values of events", user: "the users of events", stack: "stacks" };
const MOST_ALONE = 3;
const DAY = 86_400_000;

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const foundOf = (ui) => {
  const { html, keyed, number, plural } = ui;

  /** What was searched, of the `search` of an answer; null when nothing was. */
  const places = (search) => search && [...new Set(search.terms.map(({ kind }) => PLACES[kind] ?? EVERYWHERE))].join(", and ");

  const searched = ({ search }) => search?.terms.length > 0 && html`<p class="searched faint">Searched ${places(search)}.
    ${!search.complete && html`<b>Not all events were looked at:</b> a word of this search is in very many, and the newest of them were. Add a rarer word.`}</p>`;

  /** How many events of an issue have all the words: "3 of 1,204 events match"; null where that says nothing. In a time range, of its events. */
  function matches({ matching, count, stored_occurrences: all }, { scoped }) {
    if (!matching) return null;
    const { events, exact } = matching;
    const stored = scoped ? Math.min(count, all) : all;
    if (!events) return exact ? "no single event has all the words" : "events that were not looked at may match";
    if (events >= stored) return stored === 1 ? "its only event matches" : `all ${plural(stored, "event")} match`;
    return `${exact ? "" : "at least "}${number(events)} of ${plural(stored, "event")} ${exact && events === 1 ? "matches" : "match"}`;
  }

  /** The address of an issue of the list, with what chooses among its events: the time, the words, where they do, and filters. */
  function way({ id, matching }, { search }) {
    const { q, user, host, release, environment, range, from, to, date } = ui.query();
    const some = matching ? matching.events > 0 || !matching.exact : search?.terms.some(({ without }) => without);
    const start = date ? +ui.moment(`${date} 00:00:00`) : NaN;
    const day = isNaN(start) ? {} : { from: ui.stamp(new Date(start)), to: ui.stamp(new Date(start + DAY)) };
    return { view: "issue", id, q: some ? q : null, user, host, release, environment, range, from, to, ...day };
  }

  /** What is left of a search that found nothing: its numbers and addresses, each by itself, as links. */
  function only(query) {
    const q = query.q ?? "";
    const words = [...new Set(q.match(/[\p{L}\d][\p{L}\d._@-]*/gu)?.filter((word) => /[\d@]/.test(word)))].filter((word) => word !== q).slice(0, MOST_ALONE);
    return words.length > 0 && html`<p>Search only for ${keyed(words, (word) => word, (word, at) => html`${at > 0 && ", "}<a href=${ui.link({ ...query, page: null, q: word })}>${word}</a>`)}</p>`;
  }

  /** Why nothing is shown, and the way on. */
  function none(query, { counts, meta, summary }, filtered) {
    if (query.page > 1) return html`<div class="card notice"><h2>This page is past the end</h2><p><a href=${ui.link({ ...query, page: null })}>Go to the first page</a></p></div>`;
    const elsewhere = counts?.statuses.reduce((sum, { groups_count: count }) => sum + count, 0);
    if (!filtered && !query.status) return html`<div class="card notice"><h2>Nothing is unresolved</h2>
      <p>${plural(summary.total.groups_count, "issue")} ${summary.total.groups_count === 1 ? "is" : "are"} fixed or will not be fixed. <a href=${ui.link({ status: "all" })}>Show all</a></p></div>`;
    return html`<div class="card notice"><h2>No issue matches</h2> ${searched(meta)} ${only(query)}
      ${elsewhere > 0 && html`<p>${plural(elsewhere, "issue")} with another status ${elsewhere === 1 ? "matches" : "match"}. <a href=${ui.link({ ...query, page: null, status: "all" })}>Show all statuses</a></p>`}
      <p><a href=${ui.link({})}>Clear filters</a></p> ${filtered && ui.slot("issues.none", query)}</div>`;
  }

  return { matches, none, searched, way };
};
