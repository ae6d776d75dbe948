// The way from one event to the next, among those that match.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, narrow) => {
  /** Where the event before or after the shown one is: in the list, or behind its edge; null where there is none. */
  function to({ list, subject }, by) {
    const { rows, first, more } = list;
    const at = rows.findIndex(({ id }) => id === subject);
    if (at < 0) return subject ? {} : null;
    if (rows[at + by]) return { occurrence: rows[at + by].id };
    return (by > 0 ? more : !first) ? {} : null;
  }

  async function go(data, by) {
    const next = to(data, by);
    if (!next) return;
    const { frame, ...query } = ui.query();
    if (next.occurrence) return ui.go({ ...query, occurrence: next.occurrence });
    const beyond = { [by > 0 ? "older_than" : "newer_than"]: data.subject };
    const { data: found, meta } = await ui.api("events", { ...narrow.wanted(query), ...beyond, limit: 1 });
    if (!found.length) {
      const kind = by > 0 ? "older" : "newer";
      return ui.toast(meta.complete ? `No ${kind} event matches.` : `No ${kind} event matches among the next ${ui.number(meta.looked_at)}.`);
    }
    // The list goes on with what the event follows on, so that it is in it.
    ui.go({ ...query, cursor: null, older_than: null, newer_than: null, ...beyond, occurrence: found[0].id });
  }

  return { go, has: (data, by) => to(data, by) !== null };
};
