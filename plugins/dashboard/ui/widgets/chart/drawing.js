// The drawing of a chart: grid, bars on each other, and what is chosen, as one SVG in pixels.

import { moment, zone } from "../../clock.js";
import { svg } from "../elements.js";
import { compact, timeTicks, valueTicks, widthOf } from "./scale.js";

const AXIS = 20; // pixels below the plot, with the times
const TOP = 8; // above it: half of a number
const LEAST = 2; // pixels of the smallest bar
const ROUND = 2;

const text = (words, attributes) => Object.assign(svg("text", attributes), { textContent: words });

/** A box whose upper corners are round, of a whole path. */
const box = (x, y, width, height, round) => round
  ? `M${x} ${y + height}v${round - height}q0 ${-round} ${round} ${-round}h${width - 2 * round}q${round} 0 ${round} ${round}v${height - round}z`
  : `M${x} ${y + height}v${-height}h${width}v${height}z`;

const tidy = (value) => Math.round(value * 10) / 10;

/** Where everything stands: `left` and `right` are the ends of a bar, `y` the height of a number. */
export function layoutOf({ starts, end, series, daily, before = [] }, width, height) {
  const totals = starts.map((_, at) => series.reduce((sum, { values }) => sum + values[at], 0));
  const ticks = valueTicks(Math.max(...totals, ...before));
  const named = daily ? "UTC" : zone(moment(starts.at(-1)));
  const gutter = Math.ceil(Math.max(widthOf(named), ...ticks.map((tick) => widthOf(compact(tick))))) + 8;
  const [first, last, bottom] = [+moment(starts[0]), +moment(end), height - AXIS];
  const x = (time) => gutter + ((width - gutter) * (moment(time) - first)) / (last - first);
  const y = (value) => bottom - ((bottom - TOP) * value) / ticks.at(-1);
  const left = (at) => x(starts[at]);
  const right = (at) => x(starts[at + 1] ?? end);
  const barAt = (place) => Math.max(0, starts.findLastIndex((_, at) => left(at) <= place));
  return { ticks, zone: named, gutter, bottom, width, height, x, y, left, right, barAt };
}

/** Grid lines with their numbers, and times below. */
export function scales({ starts, end, daily }, { ticks, zone: named, gutter, bottom, width, height, y, left, right }) {
  const lines = [0, ...ticks].map((tick) => svg("line", { class: tick ? "grid" : "base", x1: gutter, x2: width, y1: tidy(y(tick)), y2: tidy(y(tick)) }));
  const numbers = [0, ...ticks].map((tick) => text(compact(tick), { class: "scale scale-number", x: gutter - 6, y: tidy(y(tick)) + 4 }));
  const shift = daily ? (right(0) - left(0)) / 2 : 0;
  const times = timeTicks(starts[0], end, width - gutter, { daily, shift }).flatMap(({ text: words, x, middle }) => [
    svg("line", { class: "grid-time", x1: tidy(gutter + x), x2: tidy(gutter + x), y1: bottom, y2: bottom + 4 }),
    text(words, { class: "scale scale-time", x: tidy(gutter + middle), y: height - 4 }),
  ]);
  return [...lines, ...numbers, ...times, text(named, { class: "scale scale-zone", x: 0, y: height - 4 })];
}

/** One path for each series; the first is the lowest. A small number still shows. */
export function bars({ starts, series }, { bottom, y, left, right }) {
  const tops = starts.map(() => bottom);
  const upper = starts.map((_, at) => series.findLastIndex(({ values }) => values[at]));
  return series.map(({ tone, values }, order) => {
    const shapes = values.map((value, at) => {
      if (!value) return "";
      const gap = Math.min(2, (right(at) - left(at)) * 0.2);
      const height = Math.max(LEAST, bottom - y(value));
      const width = tidy(Math.max(0.8, right(at) - left(at) - gap));
      tops[at] -= height;
      const last = upper[at] === order;
      // A line of the background between two parts tells them apart without their colours.
      const part = last || height < 4 || width < 4 ? 0 : 1;
      return box(tidy(left(at) + gap / 2), tidy(tops[at] + part), width, tidy(height - part), last && width > 6 && height > ROUND ? ROUND : 0);
    });
    return svg("path", { class: `bar tone-${tone}`, d: shapes.join("") });
  });
}

/** The outline of the range that this one is compared with. */
export function outline({ before }, { y, left, right }) {
  const steps = before.map((value, at) => `${at ? "L" : "M"}${tidy(left(at))} ${tidy(y(value))}H${tidy(right(at))}`);
  return svg("path", { class: "earlier", d: steps.join("") });
}

/** A band over the bars from one x to another. */
export const band = (kind, from, to, { bottom }) => svg("rect", { class: kind, x: tidy(from), y: TOP, width: tidy(Math.max(1, to - from)), height: bottom - TOP });
