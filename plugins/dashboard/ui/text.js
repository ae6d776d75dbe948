// How numbers and foreign texts are shown.

// Hand-written: the first use of Intl costs a slow machine up to 100 ms.
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

// What comes from logs and people is shown as it is stored, and moves nothing beside it.

// Characters that make a text read otherwise than it is are shown by their number: those that turn its direction, as
// \u202e, and the control characters of terminals, as \u001b.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const READ = new Set(["title", "aria-label", "label", "alt", "placeholder"]);

export const visible = (text) => text.replace(HIDDEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What an attribute shows; those that nobody reads, such as `value` and `href`, hold data as it is. */
export const shownIn = (name, value) => (READ.has(name) ? visible(String(value)) : value);

const holdsElements = ({ namespaceURI, localName }) => !namespaceURI?.endsWith("svg") && localName !== "option";

/** Tell whether a text that is shown in an element needs one of its own, because it is written from right to left. */
export const turnsIn = (text, parent) => RIGHT_TO_LEFT.test(text) && holdsElements(parent);

/** A text that is written from right to left, in an element of its own: what stands beside it keeps its place. */
export function isolated(text, known) {
  if (known?.localName === "bdi" && known.textContent === text) return known;
  return Object.assign(document.createElement("bdi"), { textContent: text });
}
