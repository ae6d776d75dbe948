// Two times in the chosen clock, with 24 hours whatever the browser's language is.

import { fromClock, toClock, zone } from "../clock.js";
import { html } from "../dom.js";

const HOURS = "([01]?[0-9]|2[0-3]):[0-5][0-9]";

/** What stands in the two fields of a time; `end` asks for the end of a day when no time of day was typed. */
function read(fields, name, end) {
  const date = fields.get(`${name}-date`);
  if (!date) return null;
  const time = fields.get(`${name}-time`).trim();
  if (time || !end) return fromClock(date, time);
  const [year, month, day] = date.split("-").map(Number);
  return fromClock(new Date(Date.UTC(year, month - 1, day + 1)).toISOString().slice(0, 10));
}

/**
 * A form of two times; `ended` gets `{ from, to }` as the service takes them, null where none was typed, or null alone when
 * it was cancelled. `hint` says how exact they are, beside the clock they are in.
 */
function dates({ from, to, hint }, ended) {
  function submit(event) {
    event.preventDefault();
    const fields = new FormData(event.target);
    const [start, end] = [read(fields, "from", false), read(fields, "to", true)];
    const late = start && end && start >= end;
    const field = event.target.elements["to-date"];
    field.setCustomValidity(late ? "Choose an end that is later than the start." : "");
    if (late) return void field.reportValidity();
    ended({ from: start, to: end });
  }

  const valid = ({ currentTarget }) => currentTarget.elements["to-date"].setCustomValidity("");

  const field = (name, label, value) => {
    const { date = "", time = "" } = value ? toClock(value) : {};
    return html`<label>${label} <input id=${`range-${name}`} name=${`${name}-date`} type="date" .value=${date} /></label>
      <input class="clock-time" name=${`${name}-time`} aria-label=${`${label}, time of day`} placeholder="00:00" inputmode="numeric" maxlength="5"
        pattern=${HOURS} title="Hours and minutes, such as 17:30" autocomplete="off" .value=${time} />`;
  };

  return html`<form class="toolbar dates" aria-label=${`Time range, ${zone()}`} @submit=${submit} @input=${valid}>
    ${field("from", "From", from)} ${field("to", "to", to)} <span class="faint">${zone()}${hint && `, ${hint}`}</span>
    <button class="button button-main">Show</button>
    <button class="button" type="button" @click=${() => ended(null)}>Cancel</button>
  </form>`;
}

/** The form where a page has it: `open(range, chosen)` shows what `view()` draws until it ends; what is typed stays while time goes on. */
export function datesForm(redraw) {
  let range = null;
  let chosen = null;

  function open(begin, use) {
    [range, chosen] = [begin, use];
    redraw();
    document.querySelector("#range-from")?.focus();
  }

  function ended(times) {
    range = null;
    if (times) chosen(times);
    else redraw();
  }

  return { open, view: () => range && dates(range, ended) };
}
