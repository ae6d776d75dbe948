// What the list remembers: the page where the person is in it, this browser for each application the saved searches,
// the density, and when its issues were last looked at.

const PLACE = `snaglist.issues:${location.pathname}`;
const SAME_VISIT = 30 * 60_000; // a shorter absence, such as a reload, goes on with the visit

/** The way back from an issue, and the issues before and after it. */
export const place = { list: {}, ids: [], searching: false };

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const name = (what) => `${PLACE}:${ui.query().app ?? ""}:${what}`;

  function read(what, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(name(what))) ?? otherwise;
    } catch {
      return otherwise;
    }
  }

  function write(what, value) {
    try {
      localStorage.setItem(name(what), JSON.stringify(value));
    } catch {
      // Storage is blocked: it holds as long as the page.
    }
  }

  const visits = new Map();

  /** When the visit before this one ended, in milliseconds; null when there was none. */
  function lastVisit() {
    const at = name("visit");
    if (!visits.has(at)) {
      const { left = null, before = null } = read("visit", {});
      visits.set(at, left !== null && Date.now() - left < SAME_VISIT ? before : left);
      addEventListener("pagehide", () => write("visit", { left: Date.now(), before: visits.get(at) }));
    }
    return visits.get(at);
  }

  return { read, write, lastVisit };
};
