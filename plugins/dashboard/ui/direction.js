// The direction of texts. What comes from logs and people is shown as it is stored, and moves nothing beside it.

// Characters that turn the direction of a text would make it read otherwise than it is: they are shown, as \u202e.
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const READ = new Set(["title", "aria-label", "label", "alt", "placeholder"]);

export const visible = (text) => text.replace(TURNING, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

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
