// The scales of a chart: round numbers up its side, round times along it.

import { clock, fromClock, moment, stamp, toClock } from "../../clock.js";

const STEPS = [1, 2, 2.5, 3, 4, 5];
const LETTER = 6.4; // pixels of one at 11 px
const GAP = 12;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MONDAY = 4; // of the days since 1970 the first that was one
const PARTS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720].map((minutes) => minutes * MINUTE);
const DAYS = [1, 2, 7, 14];
const MONTHS = [1, 3, 6, 12];
const MOST = 6;
const ROOM = 76; // pixels that a label takes with what is left and right of it

/** The round numbers at the grid lines of a scale that begins with zero: two or three, the last not below `most`. */
export function valueTicks(most) {
  if (most <= 1) return [1];
  let best = null;
  for (let power = 10 ** (Math.floor(Math.log10(most)) - 1); power <= most; power *= 10) {
    for (const step of STEPS.map((factor) => factor * power)) {
      const count = Math.ceil(most / step);
      if (Number.isInteger(step) && count > 1 && count < 4 && (!best || count * step < best.at(-1))) best = Array.from({ length: count }, (_, at) => (at + 1) * step);
    }
  }
  return best;
}

/** 1500 → "1.5k": a number at a grid line. */
export function compact(value) {
  const [size, sign] = value >= 1e9 ? [1e9, "G"] : value >= 1e6 ? [1e6, "M"] : value >= 1000 ? [1000, "k"] : [1, ""];
  return `${Math.round((value / size) * 100) / 100}${sign}`;
}

/** About how many pixels a text takes. */
export const widthOf = (text) => text.length * LETTER;

/** Whether the bars are days of UTC, as some counts are kept: then the chart shows them as that, whatever clock was chosen. */
export const isDaily = (starts, end) => starts.every((start, at) => start.endsWith("00:00:00") && moment(starts[at + 1] ?? end) - moment(start) > DAY / 2)
  && (starts.length < 2 || moment(starts[1]) - moment(starts[0]) >= DAY);

/** "28 Nov" for the day of UTC that a time lies in. */
export const dayName = (time) => clock(fromClock(time.slice(0, 10)), "day");

// Between the clock's face and the moment: a face is a moment that UTC would call so.
const faceOf = (time, daily) => (daily ? moment(time) : moment(`${toClock(time).date} ${toClock(time).time}:00`));
const timeOf = (face, daily) => (daily ? stamp(face) : fromClock(stamp(face).slice(0, 10), stamp(face).slice(11, 16)));

/** Faces from one to another, `step` apart; of steps of a week those are Mondays. */
function spaced(from, to, step) {
  const shift = step % (7 * DAY) ? 0 : MONDAY * DAY;
  const found = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at < to; at += step) found.push(new Date(at));
  return found;
}

/** The first days of months from one face to another, `step` months apart. */
function monthly(from, to, step) {
  const found = [];
  for (let month = Math.ceil((from.getUTCFullYear() * 12 + from.getUTCMonth()) / step) * step; ; month += step) {
    const day = new Date(Date.UTC(Math.floor(month / 12), month % 12, 1));
    if (day >= to) return found;
    if (day >= from) found.push(day);
  }
}

/** The finest round times that have room. */
function chosen(from, to, room, daily) {
  for (const step of daily ? [] : PARTS) if ((to - from) / step <= room) return spaced(from, to, step);
  for (const step of DAYS) if ((to - from) / DAY / step <= room) return spaced(from, to, step * DAY);
  for (const step of MONTHS) if ((to - from) / DAY / 30 / step <= room) return monthly(from, to, step);
  return monthly(from, to, 12 * Math.ceil((to - from) / DAY / 365 / room));
}

const apart = (one, kept) => kept.every((other) => one.left + one.size + GAP <= other.left || other.left + other.size + GAP <= one.left);

/**
 * The times to name along an axis of `width` pixels from one time to another: `[{ at, x, text }]`, apart from each other. Where a day
 * begins the text is its date; when none does, the first time has its date before it. `shift` pixels are to the middle of a bar.
 */
export function timeTicks(from, to, width, { daily = false, shift = 0 } = {}) {
  const ends = [faceOf(from, daily), faceOf(to, daily)];
  const faces = chosen(...ends, Math.max(2, Math.min(MOST, Math.floor(width / ROOM))), daily);
  const whole = (face) => face % DAY === 0;
  const fits = ({ x, size }) => x - size / 2 > -LETTER; // what would stand out at the left is no longer below its time
  const tick = (face, text) => {
    const at = timeOf(face, daily);
    const size = widthOf(text(at));
    const x = shift + (width * (moment(at) - moment(from))) / (moment(to) - moment(from));
    return { at, text: text(at), day: whole(face), left: Math.max(0, Math.min(width - size, x - size / 2)), size, x };
  };
  const date = (at) => (daily ? dayName(at) : clock(at, "day"));
  const ticks = faces.map((face) => tick(face, whole(face) ? date : (at) => clock(at, "time"))).filter(fits);
  const dated = !ticks.some(({ day }) => day) && faces.map((face) => tick(face, (at) => `${date(at)} ${clock(at, "time")}`)).find(fits);
  if (dated) ticks.splice(ticks.findIndex(({ at }) => at === dated.at), 1, { ...dated, day: true });
  const kept = [];
  // Dates matter more than times of day.
  for (const one of [...ticks.filter(({ day }) => day), ...ticks.filter(({ day }) => !day)]) if (apart(one, kept)) kept.push(one);
  return kept.sort((a, b) => a.x - b.x).map(({ at, text, left, size, x }) => ({ at, text, x, middle: left + size / 2 }));
}
