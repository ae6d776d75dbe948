// Numbers and times as text. Hand-written: the first use of Intl costs a slow machine up to 100 ms.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = ["kB", "MB", "GB", "TB"];

/** 1234567 → "1,234,567" */
export const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 event", "2 events" */
export const plural = (count, word, words = `${word}s`) => `${number(count)} ${count === 1 ? word : words}`;

/** "ERROR" → "Error" */
export const level = (severity) => severity[0] + severity.slice(1).toLowerCase();

/** "source-maps_sweep" → "Source maps sweep" */
export const sentence = (name) => name[0].toUpperCase() + name.slice(1).replaceAll(/[_-]/g, " ");

/** 1500 → "1.5 kB" */
export function bytes(value) {
  if (value < 1000) return `${value} B`;
  const step = Math.min(UNITS.length, Math.floor(Math.log10(value) / 3));
  const size = value / 1000 ** step;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[step - 1]}`;
}

/** The moment of the service's `YYYY-MM-DD HH:MM:SS` (UTC). */
export const moment = (text) => new Date(`${text.replace(" ", "T")}Z`);

/** A moment in the service's form. */
export const stamp = (date) => date.toISOString().slice(0, 19).replace("T", " ");

/** How long ago a moment is: "now", "5m ago", "3h ago", "12d ago", later the date. */
export function ago(text, now = Date.now()) {
  const seconds = Math.round((now - moment(text)) / 1000);
  if (seconds < -MINUTE) return text.slice(0, 16);
  if (seconds < MINUTE) return "now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ago`;
  if (seconds < 60 * DAY) return `${Math.floor(seconds / DAY)}d ago`;
  return text.slice(0, 10);
}
