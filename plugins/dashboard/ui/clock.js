// Times: the service says and takes `YYYY-MM-DD HH:MM:SS` in UTC; people read the clock of their browser, or UTC when they
// chose it. Always with 24 hours.

// Hand-written: the first use of Intl costs a slow machine up to 100 ms.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CHOICE = "snaglist.clock";

let utc = chosen() === "utc";

function chosen() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null; // storage is blocked
  }
}

/** Show the other clock from now on, and keep the choice in this browser. */
export function switchClock() {
  utc = !utc;
  try {
    localStorage.setItem(CHOICE, utc ? "utc" : "local");
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

/** Minutes that the chosen clock is ahead of UTC at a moment. */
const ahead = (date) => (utc ? 0 : -date.getTimezoneOffset());

const two = (value) => String(value).padStart(2, "0");

/** The name of the chosen clock at a moment: "UTC", "UTC+1", "UTC-3:30". */
export function zone(date = new Date()) {
  const minutes = ahead(date);
  if (!minutes) return "UTC";
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? "-" : "+"}${Math.floor(size / 60)}${size % 60 ? `:${two(size % 60)}` : ""}`;
}

/** The moment of a time of the service. */
export const moment = (text) => new Date(`${text.replace(" ", "T")}Z`);

/** A moment as the service takes it. */
export const stamp = (date) => date.toISOString().slice(0, 19).replace("T", " ");

/** What the chosen clock shows at a moment, in the form of a stamp. */
const face = (date) => stamp(new Date(+date + ahead(date) * 60_000));

const dayOf = (text, now, always) => {
  const [year, month, day] = text.slice(0, 10).split("-");
  return `${Number(day)} ${MONTHS[month - 1]}${always || year !== face(now).slice(0, 4) ? ` ${year}` : ""}`;
};

/**
 * A time of the service as the chosen clock shows it: "minute" is "28 Nov 08:00", "day" "28 Nov", both with the year when
 * it is not this one; "time" is "08:00", "exact" "28 Nov 2026, 08:00:12 UTC+1". What is no time stands as it is.
 */
export function clock(text, form = "minute", now = new Date()) {
  const date = moment(text);
  if (Number.isNaN(+date)) return text;
  const shown = face(date);
  if (form === "time") return shown.slice(11, 16);
  if (form === "day") return dayOf(shown, now, false);
  if (form === "exact") return `${dayOf(shown, now, true)}, ${shown.slice(11)} ${zone(date)}`;
  return `${dayOf(shown, now, false)} ${shown.slice(11, 16)}`;
}

/** The date and the time of day that the chosen clock shows: `{ date: "2026-11-28", time: "08:00" }`. */
export function toClock(text) {
  const shown = face(moment(text));
  return { date: shown.slice(0, 10), time: shown.slice(11, 16) };
}

/** The time of the service at which the chosen clock shows a date and a time of day ("8:00", or none for midnight). */
export function fromClock(date, time = "") {
  const [year, month, day] = date.split("-").map(Number);
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return stamp(utc ? new Date(Date.UTC(year, month - 1, day, hours, minutes)) : new Date(year, month - 1, day, hours, minutes));
}

/** How long ago a time is: "now", "5m ago", "3h ago", "12d ago", later the date. */
export function ago(text, now = Date.now()) {
  const seconds = Math.round((now - moment(text)) / 1000);
  if (seconds < -MINUTE) return clock(text);
  if (seconds < MINUTE) return "now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ago`;
  if (seconds < 60 * DAY) return `${Math.floor(seconds / DAY)}d ago`;
  return clock(text, "day");
}
