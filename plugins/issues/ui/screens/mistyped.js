// What is wrong with a filter that the service refuses, as a sentence beside the search field.

import { WORDS } from "../search.js";
import { VALUES } from "../suggest.js";

const TIMES = ["from", "to", "date"];
const either = (options) => options.join(", ").replace(/, ([^,]*)$/, " or $1");

/** `message`: "snoozed: must be true, false, 1 or 0"; `query`: the address. */
export default function mistyped(message, query) {
  const [, name, why] = /^([a-z_]+)(?:\[\d+\])?: (.*)$/.exec(message) ?? [];
  if (TIMES.includes(name)) return "This time range cannot be shown. Choose another one.";
  if (!name) return message;
  const word = (WORDS[name] ?? [name === "status" ? "is" : name])[0];
  if (VALUES[name]) return `There is no ${word}:${(query[name] ?? "").toLowerCase()}. Use ${either(VALUES[name].map((value) => `${word}:${value}`))}.`;
  return name === "q" ? `This search is not possible: it ${why}.` : `${word}: ${why}.`;
}
