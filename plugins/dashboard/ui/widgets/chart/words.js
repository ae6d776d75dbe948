// What a chart says: the time and the numbers of bars, and all of them as a table.

import { clock, moment, stamp, toClock, zone } from "../../clock.js";
import { html } from "../../dom.js";
import { number, plural } from "../../text.js";
import { dayName } from "./scale.js";

const before = (time) => stamp(new Date(moment(time) - 1000));

/** "28 Nov 08:00 to 09:00", of days "28 Nov" or "28 Nov to 30 Nov". */
export function spanText(from, to, daily) {
  const last = before(to);
  if (daily) return dayName(from) === dayName(last) ? dayName(from) : `${dayName(from)} to ${dayName(last)}`;
  return `${clock(from)} to ${clock(to, toClock(from).date === toClock(last).date ? "time" : "minute")}`;
}

/** What several bars are together: their sum; of distinct ones, which do not add up, the greatest. */
const together = (values, [first, last], distinct) => values.slice(first, last + 1).reduce((all, value) => (distinct ? Math.max(all, value) : all + value), 0);

/** The numbers of the bars from one to another: of all, of each series, and of the range it is compared with. */
export function numbersOf({ series, before: earlier, distinct }, bars) {
  const parts = series.map(({ label, values, tone }) => ({ label, tone, count: together(values, bars, distinct) }));
  return { total: parts.reduce((all, { count }) => all + count, 0), parts, earlier: earlier ? together(earlier, bars, distinct) : null };
}

/** "12 events", of several bars of distinct ones "at most 12 visitors". */
const counted = ({ unit, distinct }, total, [first, last]) => `${distinct && first !== last ? "at most " : ""}${plural(total, ...unit)}`;

/** "28 Nov 08:00 to 09:00: 12 events, Error 3, Warning 9" */
export function valueText(chart, bars) {
  const { total, parts, earlier } = numbersOf(chart, bars);
  const named = parts.length > 1 ? parts.filter(({ count }) => count).map(({ label, count }) => `${label} ${number(count)}`) : [];
  const compared = earlier === null ? [] : [`${number(earlier)} in the previous period`];
  return `${rangeText(chart, bars)}: ${[counted(chart, total, bars), ...named, ...compared].join(", ")}`;
}

export const ends = ({ starts, end }, [first, last]) => ({ from: starts[first], to: starts[last + 1] ?? end });

export function rangeText(chart, bars) {
  const { from, to } = ends(chart, bars);
  return spanText(from, to, chart.daily);
}

/** The numbers beside the pointer or the focus. */
export function tip(chart, bars) {
  const { total, parts, earlier } = numbersOf(chart, bars);
  return html`<b>${rangeText(chart, bars)}</b>
    ${parts.length > 1 && html`<dl>${parts.toReversed().filter(({ count }) => count).map(({ label, tone, count }) => html`<div class=${`tone-${tone}`}>
      <dt>${label}</dt><dd>${number(count)}</dd></div>`)}</dl>`}
    <p>${counted(chart, total, bars)}${earlier !== null && html`<span class="faint">, ${number(earlier)} before</span>`}</p>`;
}

/** The names of the series, in the order in which they stand on each other, with what they add up to. */
export const legend = (chart) => {
  const { parts, earlier } = numbersOf(chart, [0, chart.starts.length]);
  const shown = parts.filter(({ count }) => count).toReversed();
  if (parts.length < 2 && earlier === null) return null;
  const amount = (value) => !chart.distinct && html`<span class="count">${number(value)}</span>`;
  return html`<ul class="chart-legend">
    ${parts.length > 1 && shown.map(({ label, tone, count }) => html`<li class=${`tone-${tone}`}>${label} ${amount(count)}</li>`)}
    ${earlier !== null && html`<li class="chart-before">Previous period ${amount(earlier)}</li>`}</ul>`;
};

/** The same numbers as a table. */
export function table(chart) {
  const { label, series, starts, daily, before: earlier } = chart;
  const several = series.length > 1;
  const row = (_, at) => {
    const { total, parts } = numbersOf(chart, [at, at]);
    return html`<tr><th scope="row">${rangeText(chart, [at, at])}</th>${several && parts.map(({ count }) => html`<td class="figure">${number(count)}</td>`)}
      <td class="figure">${number(total)}</td>${earlier && html`<td class="figure">${number(earlier[at])}</td>`}</tr>`;
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`${label}, as a table`}><table class="table">
    <thead><tr><th scope="col">${daily ? "Day (UTC)" : `Time (${zone(moment(starts[0]))})`}</th>${several && series.map((one) => html`<th scope="col" class="figure">${one.label}</th>`)}
      <th scope="col" class="figure">${several ? "Total" : chart.unit[1][0].toUpperCase() + chart.unit[1].slice(1)}</th>${earlier && html`<th scope="col" class="figure">Previous period</th>`}</tr></thead>
    <tbody>${starts.map(row)}</tbody></table></div>`;
}
