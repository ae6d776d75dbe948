// Which time and whose requests the page shows, as the address says it and as the API takes it.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const RANGES = [[1, "24 hours"], [3, "3 days"], [7, "7 days"], [30, "30 days"], [90, "90 days"]];
const HOURLY = 3; // a longer range shows whole days
const PEOPLE = [["people", "People"], ["", "People and bots"], ["all", "Everyone, including scanners"]];

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;
  const times = ui.dates();

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const chosen = ({ days, from, to }) => (from || to ? 0 : Number(days) || 7);

  /** Hours that end with this one; of more than three days whole days of UTC, as they are kept. */
  function limits(query) {
    const days = chosen(query);
    if (!days) return { from: query.from, to: query.to };
    const now = Date.now();
    const first = days > HOURLY ? Math.floor(now / DAY) * DAY - (days - 1) * DAY : Math.floor(now / HOUR) * HOUR - (days * 24 - 1) * HOUR;
    return { from: ui.stamp(new Date(first)) };
  }

  /** What the API is asked. @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const wanted = (query) => ({
    ...limits(query),
    source: query.source,
    bots: query.who !== "people",
    scanners: query.who === "all",
    compare: query.compare !== "off",
  });

  const change = (values) => ui.go({ ...ui.query(), ...values });
  const show = (from, to) => change({ days: null, from, to });

  const ask = ({ from, to }) => void times.open({ from, to, hint: "rounded to whole hours" }, (range) => show(range.from, range.to));

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const controls = (query, report) => html`<div class="toolbar access-range">
      <nav class="joined" aria-label="Time">${RANGES.map(([days, name]) => html`<a class="button" aria-current=${chosen(query) === days ? "true" : null}
        href=${ui.link({ ...query, days, from: null, to: null })}>${name}</a>`)}
        <button class="button" type="button" aria-current=${chosen(query) ? null : "true"} @click=${() => ask(report)}>From … to</button></nav>
      <label class="check">Show <select .value=${query.who ?? ""} @change=${({ target }) => change({ who: target.value || null })}>
        ${PEOPLE.map(([who, name]) => html`<option value=${who}>${name}</option>`)}</select></label>
      <label class="check"><input type="checkbox" .checked=${query.compare !== "off"} @change=${({ target }) => change({ compare: target.checked ? null : "off" })} />
        Compare with previous period</label>
      ${query.source && html`<span class="chip">${query.source} <a class="button button-plain" aria-label=${`All logs, not only ${query.source}`}
        href=${ui.link({ ...query, source: null })}><ui-icon name="close"></ui-icon></a></span>`}
    </div>
    ${times.view()}
    <p class="faint">${ui.clock(report.from)} to ${ui.clock(report.to)} (${ui.zone()})${report.before && html`, compared with ${ui.clock(report.before.from)} to ${ui.clock(report.before.to)}`}</p>`;

  return { wanted, controls, show };
};
