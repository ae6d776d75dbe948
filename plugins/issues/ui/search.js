// The words of issues: the closed vocabularies as a person reads them, and the search field, `level:error tag:payments gateway
// timeout`, to and from the parameters of the address.

export const LEVELS = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];

/** What is worth a look at night, as the filter of the level. */
export const WORSE = LEVELS.slice(0, 4).join();

/** How a filter of levels reads. */
export const levelWords = (ui, severity) => (severity === WORSE ? "Error and worse" : severity.split(",").map(ui.level).join(" or "));

export const STATUSES = {
  open: "Open",
  in_progress: "In progress",
  reoccurred: "Reoccurred",
  fixed: "Fixed",
  wont_fix: "Won't fix",
};

/** The statuses that are home: an address without a status has them. "all" is an address with every status. */
export const UNRESOLVED = ["open", "in_progress", "reoccurred"];

export const SORTS = { newest: "Last seen", first_seen: "Newest issues", oldest: "Oldest", occurrences: "Most events", users: "Most users", trend: "Rising" };

/** How a vocabulary reads a name of an address; one that it does not have stands for itself. */
export const worded = (words, name) => (Object.hasOwn(words, name) ? words[name] : name);

/** The title without the exception's class, which stands before it by itself: pushed events have it in both. */
export const plainTitle = ({ exception_class: raised, title }) =>
  raised && title.startsWith(`${raised}: `) ? title.slice(raised.length + 2) : title;

export const done = ({ status }) => status === "fixed" || status === "wont_fix";

/** How long alerts can be silenced: hours, or a number of further events. */
export const SNOOZES = [
  { hours: 1, label: "for 1 hour" },
  { hours: 24, label: "for 1 day" },
  { hours: 168, label: "for 7 days" },
  { hours: 720, label: "for 30 days" },
  { count: 10, label: "for 10 more events" },
  { count: 100, label: "for 100 more events" },
];

/** What has to be typed before issues are deleted. */
export const DELETION = "DELETE ISSUES";

// -- the search field

// The first word of each parameter is the one that is written back.
export const WORDS = {
  severity: ["level", "severity"],
  tag: ["tag"],
  module: ["module"],
  source: ["source"],
  log_type: ["type"],
  environment: ["env", "environment"],
  release: ["release"],
  host: ["host"],
  assignee: ["assignee"],
  origin: ["origin"],
  kind: ["kind"],
  date: ["date"],
  from: ["from"],
  to: ["to"],
  has_stack: ["stack"],
  snoozed: ["snoozed"],
};
// The time range has a control of its own, as the status has.
const ELSEWHERE = ["date", "from", "to"];
const LISTS = new Set(["severity", "status", "tag", "log_type", "origin", "kind"]);
export const PARAMETERS = new Map(Object.entries(WORDS).flatMap(([name, words]) => words.map((word) => [word, name])));
PARAMETERS.set("is", "status").set("status", "status");

/** All parameters that the search field stands for. */
export const FILTERS = ["q", "status", ...Object.keys(WORDS)];

/** Parameters of an address that are no words, so that a word of a plugin is passed on before it is known. */
const OTHERS = ["api", "app", "cursor", "format", "include_context", "include_stack", "limit", "page", "range", "skip_vendor", "sort", "view"];

/** The filters of an address as the API takes them. */
export function filtersOf({ status = "", ...query }) {
  const filters = Object.fromEntries(Object.entries(query).filter(([name, value]) => value && !OTHERS.includes(name)));
  if (status === "all") return filters;
  return { ...filters, status: !status || status === "unresolved" ? UNRESOLVED.join() : status };
}

let learned = [];

/** Take the words that plugins add in the selected application, in place of those of another. */
export function learn(words = []) {
  for (const name of learned) {
    delete WORDS[name];
    PARAMETERS.delete(name);
    LISTS.delete(name);
    FILTERS.splice(FILTERS.indexOf(name), 1);
  }
  learned = words.map(({ name }) => name);
  for (const { name, many } of words) {
    WORDS[name] = [name];
    PARAMETERS.set(name, name);
    FILTERS.push(name);
    if (many) LISTS.add(name);
  }
}

export const quoted = (value) => (/[\s"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value);

/** The filters of an address as a text that the search field takes; status and time range stand elsewhere. */
export function compose(query) {
  const tokens = Object.keys(WORDS).filter((name) => !ELSEWHERE.includes(name)).flatMap((name) => {
    const values = LISTS.has(name) ? (query[name] ?? "").split(",") : [query[name] ?? ""];
    return values.filter(Boolean).map((value) => `${WORDS[name][0]}:${quoted(name === "severity" ? value.toLowerCase() : value)}`);
  });
  return [...tokens, query.q && phrase(query.q)].filter(Boolean).join(" ");
}

/** Quotation marks that mean straight ones, as the service reads a search. */
export const CURLY = /[“”„‟]/g;
const TOKEN = /([a-z_]+):(?:"([^"]*)"|([^\s"]\S*))|"[^"]*"|\S+/gi;

/** Words as they stand; what would be read as a token is put in quotes. */
export const phrase = (words) => words.replaceAll(TOKEN, (token, word, inQuotes, bare) => filterOf(word, inQuotes ?? bare) ? `"${token.replaceAll('"', "")}"` : token);

/** The text of the search field as parameters; what is no known token is searched for as it stands. */
export function parse(text) {
  const found = Object.fromEntries(FILTERS.map((name) => [name, null]));
  const words = [];
  for (const [token, word, inQuotes, bare] of text.replaceAll(CURLY, '"').matchAll(TOKEN)) {
    const [name, value] = filterOf(word, inQuotes ?? bare) ?? [];
    if (!name) words.push(token);
    else if (LISTS.has(name) && found[name]) found[name] += `,${value}`;
    else found[name] = value;
  }
  found.q = words.join(" ") || null;
  return found;
}

/** The parameter and value that a token stands for; null when it is an ordinary word. */
function filterOf(word, text) {
  const name = PARAMETERS.get(word?.toLowerCase());
  const value = accepted(name, text);
  return value ? [name, value] : null;
}

/** The value as the API takes it, or null: then it is an ordinary word, such as the `level:` of a log line. */
function accepted(name, value) {
  if (!name || !value) return null;
  if (name === "severity") return LEVELS.includes(value.toUpperCase()) ? value.toUpperCase() : null;
  // `stack:charge` is a word of the search: what the stacks of an issue hold.
  if (name === "has_stack") return ["true", "false"].includes(value.toLowerCase()) ? value.toLowerCase() : null;
  if (name === "status") return Object.hasOwn(STATUSES, value) || ["all", "unresolved"].includes(value) ? value : null;
  return value;
}

/** The button beside a search field that opens what can be typed there; the text is fetched when it is asked for. */
export const syntaxOf = (ui) => {
  let text = null;

  async function opening() {
    text ??= (await import("./screens/syntax.js")).default(ui);
    ui.refresh();
  }

  /** `field`: the id of the search field. */
  return (field, more) => ui.popover("What to search for", text?.(`#${field}`, more), { icon: "help", plain: true, kind: "help-list", opening });
};
