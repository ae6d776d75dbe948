// What a search says of itself: where it looked, and how many events of an issue have its words.

const EVERYWHERE = "titles, messages, exceptions, stacks, tags, files and all values of events";
const PLACES = { value: "the values of events", user: "the users of events", stack: "stacks" };

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const foundOf = (ui) => {
  const { html, number, plural } = ui;

  /** What was searched, of the `search` of an answer; null when nothing was. */
  const places = (search) => search && [...new Set(search.terms.map(({ kind }) => PLACES[kind] ?? EVERYWHERE))].join(", and ");

  const searched = ({ search }) => search?.terms.length > 0 && html`<p class="searched faint">Searched ${places(search)}.
    ${!search.complete && html`<b>Not all events were looked at:</b> a word of this search is in more than 5,000. Add a word, or one that is rarer.`}</p>`;

  /** How many events of an issue have all the words: "3 of 1,204 events match"; null where that says nothing. */
  function matches({ matching, stored_occurrences: stored }) {
    if (!matching) return null;
    const { events, exact } = matching;
    if (!events) return exact ? "no single event has all the words" : "events that were not looked at may match";
    return `${exact ? "" : "at least "}${number(events)} of ${plural(stored, "event")} ${exact && events === 1 ? "matches" : "match"}`;
  }

  /** The address of an issue of the list: with the words, where they choose among its events. */
  function way({ id, matching }, { search }) {
    const some = matching ? matching.events > 0 || !matching.exact : search?.terms.some(({ without }) => without);
    return { view: "issue", id, q: some ? ui.query().q : null };
  }

  return { searched, matches, way };
};
