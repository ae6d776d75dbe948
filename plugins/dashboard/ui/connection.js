// Whether the service answers: every request tells, and where none is made for a while the page is asked for itself.

import { stamp } from "./clock.js";

const SECOND = 1000;
const QUIET = 15 * SECOND; // without an answer for so long, one is asked for
const SOON = 2 * SECOND; // between two tries while there is none
const LONGEST = 10 * SECOND; // that an answer may take

/** When the first answer was missed, and how many were missed since. */
let lost = null;
let missed = 0;
let timer = 0;
let changed = () => {};
const waiting = new Set();

/** Null while the service answers, or since when it does not: `{ since, offline }`, `offline` when this device has no network. */
export const outage = () => (missed > 1 ? { since: stamp(lost), offline: !navigator.onLine } : null);

/** Call `run` whenever the service answers again; returns the function that stops it. */
export function onReturn(run) {
  waiting.add(run);
  return () => waiting.delete(run);
}

/** A proxy without the service behind it answers these, and no JSON. */
export const unanswered = (response) => [502, 503, 504].includes(response.status) && !response.headers.get("Content-Type")?.includes("json");

/** A request ended with an answer, or null when there was none. One that is missed may be chance; two are not. */
export function heard(response) {
  const away = !response || unanswered(response);
  const before = outage();
  if (away) {
    lost ??= new Date();
    missed += 1;
  } else {
    lost = null;
    missed = 0;
  }
  look(away ? SOON : QUIET);
  if (Boolean(before) === Boolean(outage())) return;
  changed();
  if (before) for (const run of waiting) run();
}

/** Ask for the page after some time, unless a request tells before; nobody looks at a hidden one. */
function look(pause) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(tryNow, pause);
}

/** Ask at once. */
export async function tryNow() {
  clearTimeout(timer);
  const asked = fetch(location.pathname, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(LONGEST) });
  heard(await asked.catch(() => null));
}

/** Begin to look; `draw` shows another state. */
export function begin(draw) {
  changed = draw;
  look(QUIET);
  addEventListener("online", tryNow);
  addEventListener("offline", tryNow); // a service on this very machine still answers
  document.addEventListener("visibilitychange", () => look(outage() ? 0 : QUIET));
}
