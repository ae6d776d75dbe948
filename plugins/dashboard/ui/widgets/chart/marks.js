// Marks over a chart, such as deploys: each has a line; the newest names that have room are shown, the others on hover and focus.

import { clock, moment } from "../../clock.js";
import { html, keyed } from "../../dom.js";
import { widthOf } from "./scale.js";

const LONGEST = 104; // pixels of a name, as in the style sheet
const PADDING = 12;
const GAP = 4;

/** Where names stand, for marks `[{ x, width }]` from old to new: the left edge of each that has room, null for the others. */
export function placeNames(marks, total) {
  const taken = [];
  const places = marks.map(() => null);
  for (let at = marks.length - 1; at >= 0; at -= 1) {
    const { x, width } = marks[at];
    // Behind its line; before it where it would stand out at the end, or where another one begins.
    for (const left of [x, x - width]) {
      const inside = left >= 0 && left + width <= total;
      if (inside && taken.every((other) => left + width + GAP <= other.left || other.left + other.width + GAP <= left)) {
        places[at] = left;
        taken.push({ left, width });
        break;
      }
    }
  }
  return places;
}

/** The marks between the ends of a chart, with their places on `width` pixels. */
export function placed(marks, { from, to }, width) {
  const inside = marks.filter(({ at }) => from <= at && at < to).sort((a, b) => (a.at < b.at ? -1 : 1));
  const lines = inside.map((mark) => ({
    ...mark,
    x: (width * (moment(mark.at) - moment(from))) / (moment(to) - moment(from)),
    width: Math.min(LONGEST, widthOf(mark.text) + PADDING),
  }));
  const names = placeNames(lines, width);
  return lines.map((line, at) => ({ ...line, name: names[at] }));
}

/** The marks as links, or texts that take the focus. */
export const markLayer = (marks, width) => html`<ol class="chart-marks" aria-label="Marks">${keyed(marks, ({ at, text }, place) => `${at} ${text} ${place}`, (mark) => one(mark, width))}</ol>`;

function one({ at, text, title, href, x, width: size, name }, width) {
  const left = name ?? Math.max(0, Math.min(width - size, x - size / 2));
  const vars = { "--x": `${x.toFixed(1)}px`, "--name": `${(left - x).toFixed(1)}px` };
  const kind = name === null ? "mark mark-short" : "mark";
  const said = `${text}, ${clock(at)}`;
  const shown = html`<span class="mark-name">${text}</span>`;
  return href
    ? html`<li><a class=${kind} draggable="false" href=${href} title=${title ?? said} aria-label=${title ?? said} vars=${vars}>${shown}</a></li>`
    : html`<li><span class=${kind} tabindex="0" role="img" title=${title ?? said} aria-label=${title ?? said} vars=${vars}>${shown}</span></li>`;
}
