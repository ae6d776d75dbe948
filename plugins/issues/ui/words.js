// The closed vocabularies of issues as a person reads them.

export const LEVELS = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];

export const STATUSES = {
  open: "Open",
  in_progress: "In progress",
  reoccurred: "Reoccurred",
  fixed: "Fixed",
  wont_fix: "Won't fix",
};

export const SORTS = { newest: "Last seen", oldest: "First seen", occurrences: "Most events", trend: "Rising" };

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
