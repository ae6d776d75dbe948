// What the search field may hold next; fetched when something is typed.

import { LEVELS, PARAMETERS, quoted, STATUSES, WORDS } from "./search.js";

const unique = (values) => [...new Set(values.filter(Boolean))];

/** The values that the rows on the screen and the lists of this application have. */
export const known = ({ items, tags, people, summary }) => ({
  tag: [...tags.map(({ name }) => name), "none"],
  module: [...summary.modules.map(({ slug }) => slug), "none"],
  assignee: [...people.map(({ id }) => id), ...unique(items.map(({ assignee }) => assignee)), "none"],
  environment: unique(items.map(({ environment }) => environment)),
  release: unique(items.map(({ fixed_release: release }) => release)),
  source: unique(items.map(({ channel }) => channel)),
  log_type: summary.types.map(({ log_type: type }) => type),
});

/** The values of parameters that take no others. */
export const VALUES = {
  severity: LEVELS.map((name) => name.toLowerCase()),
  status: ["unresolved", "all", ...Object.keys(STATUSES)],
  origin: ["ingested", "manual", "tracker"],
  kind: ["error", "issue", "bug", "feature_request", "task"],
  has_stack: ["true", "false"],
  snoozed: ["true", "false"],
};
const OFFERED = 12;

/** What the field may hold next: the text with its last word completed. `known` adds values: parameter to list. */
export function suggest(text, known = {}) {
  const [, before, word, colon, value] = /^(.*?)([a-z_]*)(:?)("?[^\s"]*)$/is.exec(text) ?? [];
  if (word === undefined || (before && !/\s$/.test(before))) return [];
  if (!colon) {
    const words = [...new Set([...Object.values(WORDS).map(([first]) => first), "is"])];
    return word ? words.filter((each) => each.startsWith(word.toLowerCase())).map((each) => `${before}${each}:`) : [];
  }
  const name = PARAMETERS.get(word.toLowerCase());
  const typed = value.replaceAll('"', "").toLowerCase();
  const values = [...new Set([...(known[name] ?? []), ...(VALUES[name] ?? [])])];
  return values.filter((each) => each.toLowerCase().startsWith(typed)).slice(0, OFFERED)
    .map((each) => `${before}${word}:${quoted(each)}`);
}
