// The report of a window, as figures, bars by day and hour, and sortable tables.

const WINDOWS = [1, 7, 30, 90];
const HEADINGS = {
  path: "Path", status: "Status", method: "Method", agent: "Agent", referrer: "Referrer",
  count: "Requests", errors: "Errors", bytes: "Bytes", p50_ms: "p50 ms", p95_ms: "p95 ms",
};
const PANELS = [
  { title: "Paths", rows: "top_paths", columns: ["path", "count", "errors", "bytes", "p50_ms", "p95_ms"] },
  { title: "Paths with errors", rows: "error_paths", columns: ["path", "errors"] },
  { title: "Statuses", rows: "statuses", columns: ["status", "count"] },
  { title: "Methods", rows: "methods", columns: ["method", "count"] },
  { title: "Agents", rows: "top_agents", columns: ["agent", "count"] },
  { title: "Referrers", rows: "top_referrers", columns: ["referrer", "count"] },
];

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html } = ui;
  const percent = (share) => `${(share * 100).toFixed(2)} %`;

  const cell = (row, column) => {
    const value = row[column];
    if (column === "agent") return row.bot ? `${value} (bot)` : value;
    if (column === "status") return value || "none";
    return typeof value === "number" ? ui.number(value) : value ?? "";
  };

  const list = (panel, report) => {
    const rows = report[panel.rows];
    if (rows.length === 0) return null;
    const columns = panel.columns.filter((name) => !name.endsWith("_ms") || report.response_time.measured);
    const of = panel.columns[1];
    const shown = columns.map((name, at) => ({ name, label: HEADINGS[name], sort: true, number: at > 0, wrap: at === 0, view: (row) => cell(row, name) }));
    return html`<section class="card"><h2>${panel.title}</h2>
      <ui-bars class="histogram" values=${rows.map((row) => row[of]).join(",")} label=${panel.title}
        .titles=${rows.map((row) => `${row[panel.columns[0]]}: ${ui.number(row[of])}`)}></ui-bars>
      ${ui.table(shown, rows, { id: `access ${panel.rows}`, label: panel.title })}</section>`;
  };

  const bars = (title, rows, name) => html`<section class="card"><h2>${title}</h2>
    <ui-bars class="histogram" values=${rows.map(({ count }) => count).join(",")} label=${title}
      .titles=${rows.map((row) => `${row[name]}: ${ui.plural(row.count, "request")}, ${ui.plural(row.errors, "error")}`)}></ui-bars>
  </section>`;

  const figures = (report) => {
    const { measured, p50_ms: p50, p95_ms: p95, p99_ms: p99 } = report.response_time;
    const pairs = [
      ["Requests", ui.number(report.total)],
      ["Visitors", ui.number(report.unique_visitors)],
      ["Paths", ui.number(report.unique_paths)],
      ["Bytes", ui.number(report.bytes)],
      ["Errors", percent(report.error_rate)],
      ["Of bots", ui.number(report.bots)],
      ["Malformed", ui.number(report.malformed)],
      ["Not understood", ui.number(report.not_understood)],
      ...report.status_classes.map((row) => [row.class, ui.number(row.count)]),
      ...(measured ? [["p50 / p95 / p99", `${ui.number(p50)} / ${ui.number(p95)} / ${ui.number(p99)} ms`]] : []),
    ];
    return html`<section class="card"><dl class="figures">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
  };

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const choices = ({ days = "7", bots }) => html`<div class="toolbar">
    <label class="check">Window <select @change=${({ target }) => ui.go({ ...ui.query(), days: target.value })}>
      ${WINDOWS.map((number) => html`<option value=${number} .selected=${String(number) === days}>${ui.plural(number, "day")}</option>`)}
    </select></label>
    <label class="check"><input type="checkbox" .checked=${bots !== "false"}
      @change=${({ target }) => ui.go({ ...ui.query(), bots: target.checked ? null : "false" })}> With bots</label>
  </div>`;

  return {
    load: ({ days, bots, source }, { signal }) => ui.api("access-analytics", { days, bots, source }, { signal }),
    render: (report, query) => html`<div class="head"><h1 tabindex="-1">Access</h1>${choices(query)}</div>
      ${report.total === 0 && report.not_understood === 0
        ? html`<section class="card notice"><p>No request was read in this window.
            Access logs are counted as they are read. Those that were read before this was switched on are counted
            when they are <a href=${ui.link({ view: "maintenance" })}>read again</a>.</p></section>`
        : html`<div class="stack">${figures(report)}
            <div class="cards">${bars("Requests by day", report.by_day, "day")}${bars("Requests by hour", report.by_hour, "hour")}</div>
            <div class="cards cards-wide">${PANELS.map((panel) => list(panel, report))}</div></div>`}`,
  };
};
