// The events of what the filters find, over the chosen time: the chart over the list.

import { ANY_TIME } from "../range.js";
import { levelWords } from "../search.js";

const TONES = { EMERGENCY: "fatal", ALERT: "fatal", CRITICAL: "fatal", ERROR: "error", WARNING: "warning", NOTICE: "info", INFO: "info", DEBUG: "debug" };
const lower = (text) => text.replace(/^(Last|Since|Before) /, (word) => word.toLowerCase());

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, time, change) => {
  const { html } = ui;

  const startsOf = ({ from, to, step }) => {
    const [first, last] = [+ui.moment(from), +ui.moment(to)];
    return Array.from({ length: Math.max(1, Math.round((last - first) / (1000 * step))) }, (_, at) => ui.stamp(new Date(first + at * 1000 * step)));
  };

  /** What is counted, and when: "Error and worse events, last 7 days"; of a search, "Matching events" or all events of what it found. */
  function what({ counted, total, total_exact: exact }, query) {
    const level = query.severity ? `${levelWords(ui, query.severity)} events` : "Events";
    const found = exact && total === 1 ? "the issue" : `the ${exact ? "" : "over "}${ui.plural(total, "issue")}`;
    const events = !query.q ? level : counted === "matching" ? "Matching events" : `All events of ${found} found`;
    return `${events}, ${lower(time.chosen(query) ? time.text(query) : "Last 24 hours")}`;
  }

  /** When there was something, where the chosen time has nothing. */
  function quiet({ counted, last_seen: last }, query) {
    if (!last) return null;
    const day = last.slice(0, 10);
    return html`<p class="quiet"><span>No ${counted === "matching" && "matching"} events ${time.chosen(query) ? "in this period" : "in the last 24 hours"}. Last event ${ui.clock(last, "day")}, <ui-ago at=${last}></ui-ago>.</span>
      ${day !== query.date && html`<a href=${ui.link({ ...query, ...ANY_TIME, page: null, date: day })}>Show that day</a>`}</p>`;
  }

  return function chart(activity, query) {
    const total = activity.series.reduce((all, { counts }) => counts.reduce((sum, count) => sum + count, all), 0);
    if (!total) return quiet(activity, query);
    const { complete_from: since } = activity;
    const label = `${what(activity, query)} · ${ui.plural(total, "event")}`;
    const starts = startsOf(activity);
    return html`<div class="activity">${ui.chart({
      label,
      unit: ["event", "events"],
      starts,
      end: activity.to,
      // The worst at the bottom, where heights can be compared.
      series: activity.series.map(({ severity, counts }) => ({ id: severity, label: ui.level(severity), values: counts, tone: TONES[severity] })),
      marks: ui.marks({ from: starts[0], to: activity.to }),
      pick: ({ from, to }) => change({ ...ANY_TIME, from, to }),
    })}
    ${since && html`<p class="hint">Counted since ${ui.clock(since)}: there are too many events before.</p>`}</div>`;
  };
};
