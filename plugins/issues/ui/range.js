// The time of a list: the ranges to choose from, and what an address says of it.

const HOUR = 3_600_000;
/** Hours and label by name. @type {Map<string, [number, string]>} */
const RANGES = new Map([
  ["1h", [1, "Last hour"]], ["24h", [24, "Last 24 hours"]], ["7d", [168, "Last 7 days"]], ["30d", [720, "Last 30 days"]],
]);

/** What an address without a time has. */
export const ANY_TIME = { range: null, from: null, to: null, date: null };

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const range = (ui, change) => {
  const { html, keyed } = ui;
  const form = ui.dates();
  const set = (values) => change({ ...ANY_TIME, ...values });

  /** The API's `from` and `to` of an address; `range` counts back from now. */
  function limits({ range, from, to }) {
    const hours = RANGES.get(range)?.[0];
    return hours ? { from: ui.stamp(new Date(Date.now() - hours * HOUR)), to: undefined } : { from, to };
  }

  const chosen = ({ range, from, to, date }) => Boolean(RANGES.has(range) || from || to || date);

  /** How the chosen range reads: "28 Nov 07:00 to 28 Nov 09:00". */
  function text({ range, from, to, date }) {
    if (RANGES.has(range)) return RANGES.get(range)[1];
    if (date) return /^\d{4}-\d\d-\d\d$/.test(date) ? `${ui.clock(`${date} 12:00:00`, "day")} (UTC)` : date;
    if (from && to) return `${ui.clock(from)} to ${ui.clock(to)}`;
    return from ? `Since ${ui.clock(from)}` : `Before ${ui.clock(to)}`;
  }

  function select(query) {
    const other = !RANGES.has(query.range) && chosen(query);
    const options = [["", "Any time"], ...[...RANGES].map(([id, [, label]]) => [id, label]),
      ...(other ? [["chosen", text(query)]] : []), ["dates", "From … to …"]];
    function pick({ target }) {
      if (target.value !== "dates") return set({ range: target.value || null });
      target.value = RANGES.has(query.range) ? query.range : other ? "chosen" : "";
      void form.open(limits(query), set);
    }
    return html`<select aria-label="Time" .value=${other ? "chosen" : RANGES.has(query.range) ? query.range : ""} @change=${pick}>
      ${keyed(options, ([id]) => id, ([id, label]) => html`<option value=${id}>${label}</option>`)}
    </select>`;
  }

  return { chosen, dates: form.view, limits, select, text };
};
