// Which of an issue's events are shown: the filters in the address, as the API takes them, and as chips to take off.

import { ANY_TIME } from "../range.js";
import { levelWords } from "../search.js";
import { chipList, chipText, wordsText } from "./chips.js";

const BESIDE = ["user", "host", "release", "environment", "severity"];
const RANGE = ["range", "from", "to"];
/** Where in the list the page is, and which event is shown: another filter begins anew. */
const PLACE = { cursor: null, older_than: null, newer_than: null, occurrence: null, raw: null, frame: null };
const MOST_VALUES = 10;
const SECOND = 1000;
const LONGEST = 300; // characters of a name with its value

/** The values of an address; a comma in one has a backslash before it. @param {import("../../../../schemas/dashboard.d.ts").Address} query */
const valuesOf = ({ value }) => (value ? value.split(/(?<!\\),/).map((text) => text.replaceAll("\\,", ",")) : []);
const written = (values) => values.map((value) => value.replaceAll(",", "\\,")).join(",");

/**
 * @param {import("../../../../schemas/dashboard.d.ts").Ui} ui
 * @param {{ limits: (query: any) => { from?: string, to?: string }, text: (query: any) => string }} time
 */
export default (ui, time) => {
  const { html } = ui;

  /** The filters alone, as they stand in an address. */
  const filters = (query) => Object.fromEntries(["q", ...BESIDE, "value", ...RANGE].filter((name) => query[name]).map((name) => [name, query[name]]));
  const active = (query) => Object.keys(filters(query)).length > 0;

  /** The last second before a time; what is none is left for the service to refuse. */
  function before(text) {
    const at = ui.moment(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text} 00:00:00` : text);
    return isNaN(+at) ? text : ui.stamp(new Date(+at - SECOND));
  }

  /** The filters as the API takes them: the time of an address ends before its `to`, as in the list, that of `events` with it. */
  function wanted(query) {
    const { range, ...rest } = filters(query);
    const { from, to } = time.limits(query);
    return { id: query.id, ...rest, from, to: to && before(to) };
  }

  /** The address with other filters. */
  const changed = (values) => ({ ...ui.query(), ...PLACE, ...values });

  /** What is added to the address for a value; null when it cannot be a filter. */
  function filterFor(name, kind, value) {
    const query = ui.query();
    if (kind === "event") return { [name]: value };
    const one = `${name}=${value}`;
    const values = valuesOf(query);
    if (one.length > LONGEST || name.includes("=") || !value.trim() || value.endsWith("\\")) return null;
    return values.includes(one) || values.length < MOST_VALUES ? { value: written([...values.filter((other) => other !== one), one]) } : null;
  }

  /** A value that leads to the events that have it, too. */
  function only(name, kind, value, view = value) {
    const filter = filterFor(name, kind, value);
    return filter === null ? view : html`<a class="only" href=${ui.link(changed(filter))} title=${`Only events with this ${name}`} @click=${hold}>${view}</a>`;
  }

  // -- what was clicked stays where it is, though what stands above it may become longer or shorter

  let held = null;

  function hold({ currentTarget }) {
    const place = currentTarget?.closest("[id]");
    held = place && { id: place.id, top: place.getBoundingClientRect().top };
  }

  function settle() {
    const place = held && document.getElementById(held.id);
    if (place) scrollBy(0, place.getBoundingClientRect().top - held.top);
    held = null;
  }

  function change(values) {
    hold({ currentTarget: document.activeElement });
    ui.go(changed(values));
  }

  // -- chips

  function chipsOf(query) {
    const found = [];
    if (query.q) found.push({ text: wordsText(query.q), without: { q: null } });
    for (const name of BESIDE) if (query[name]) found.push({ text: chipText(ui, name, name === "severity" ? levelWords(ui, query[name]) : query[name]), without: { [name]: null } });
    const values = valuesOf(query);
    for (const value of values) found.push({ text: value.replace("=", " = "), without: { value: written(values.filter((other) => other !== value)) } });
    if (RANGE.some((name) => query[name])) found.push({ text: time.text(query), without: ANY_TIME });
    return found;
  }

  const none = Object.fromEntries(["q", "value", ...BESIDE, ...RANGE].map((name) => [name, null]));

  const chips = (query) => active(query) && chipList(ui, chipsOf(query), { way: (without) => ui.link(changed(without)), clear: ui.link(changed(none)), click: hold });

  return { active, change, chips, filterFor, filters, hold, only, settle, wanted };
};
