// What web servers were asked: figures, requests over time, and where they came from, each row with a way on.

import figuresOf from "./figures.js";
import panelsOf from "./panels.js";
import rangeOf from "./range.js";

const CLASSES = [["1xx", "debug"], ["2xx", "accent"], ["3xx", "soft"], ["4xx", "warning"], ["5xx", "error"]];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html } = ui;
  const range = rangeOf(ui);
  const figures = figuresOf(ui);
  const panels = panelsOf(ui);

  /** Numbers of the time before, bar by bar; nothing where it is kept in other steps. */
  const earlier = ({ series, before }, name) => (before?.series.unit === series.unit ? series.data.map((_, at) => before.series.data[at]?.[name] ?? 0) : undefined);

  function chart(report, label, unit, series, name, distinct = false) {
    const { unit: step, data } = report.series;
    const starts = data.map(({ start }) => start);
    const end = ui.stamp(new Date(+ui.moment(starts.at(-1)) + (step === "hour" ? HOUR : DAY)));
    return ui.chart({
      label: `${label} per ${step}`, unit, starts, end, series, distinct,
      before: earlier(report, name),
      marks: ui.marks({ from: starts[0], to: end }),
      pick: ({ from, to }) => range.show(from, to),
    });
  }

  const requests = (report) => chart(report, "Requests", ["request", "requests"], CLASSES
    .map(([id, tone]) => ({ id, label: id, tone, values: report.series.data.map((point) => point[id]) })), "count");

  const visitors = (report) => chart(report, "Visitors", ["visitor", "visitors"],
    [{ id: "visitors", label: "Visitors", tone: "accent", values: report.series.data.map((point) => point.visitors) }], "visitors", true);

  /** The hours of the day in the chosen clock. */
  function hoursOfDay({ hours_of_day: { from, counts }, from: first }) {
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (!total) return null;
    const shown = counts.map((count, hour) => ({ count, time: ui.clock(`${from.slice(0, 10)} ${String(hour).padStart(2, "0")}:00:00`, "time") }))
      .sort((a, b) => (a.time < b.time ? -1 : 1));
    const most = Math.max(...counts);
    return html`<section class="card"><h2>By time of day (${ui.zone()})</h2>
      ${from > first && html`<p class="hint">Since ${ui.clock(from)}: of days more than a week ago the hours are no longer known.</p>`}
      <ol class="day-hours">${shown.map(({ time, count }) => html`<li vars=${{ "--share": `${((100 * count) / most).toFixed(1)}%` }} title=${`${time}: ${ui.plural(count, "request")}`}>
        <span class="off-screen">${time}: ${ui.plural(count, "request")}</span><span class="day-hour" aria-hidden="true">${time.slice(0, 2)}</span></li>`)}</ol></section>`;
  }

  const none = (report, query) => html`<section class="card notice"><h2>No requests in this period</h2>
    ${query.who !== "all" && report.scanners + report.bots > 0 && html`<p>There were requests of bots or scanners: <a href=${ui.link({ ...query, who: "all" })}>show everyone</a>.</p>`}
    <p>Access logs are counted as they are read. Those that were read before access analytics was enabled are counted when they are read again.</p>
    <p><button class="button" type="button" @click=${readAgain}>Read all logs again</button></p></section>`;

  const readAgain = () => ui.confirm({
    title: "Read all logs again?",
    text: "With many logs this takes a while. Issues keep their status, tags and history.",
    action: "Read again",
    run: async () => {
      const { job_id: id } = await ui.api.post("reindex", {});
      ui.follow(id, { label: "Reading logs again", done: () => ui.reload() });
    },
  });

  const apart = ({ detailed_from: since }) => since && html`<p class="hint">Scanners, networks, hosts, operating systems and the kinds of errors of each path are counted
    since ${ui.clock(since)}; what was counted before stands in the totals only.</p>`;

  return {
    load: (query, { signal }) => ui.api("access-analytics", range.wanted(query), { signal }),
    render: (report, query) => html`<div class="head"><h1 tabindex="-1">Access</h1></div>
      <div class="stack">
        <div class="block">${range.controls(query, report)}</div>
        ${report.total === 0 && report.not_understood === 0
          ? none(report, query)
          : html`${figures(report)} ${apart(report)}
            <section class="card">${requests(report)}</section>
            <div class="cards cards-wide"><section class="card">${visitors(report)}</section> ${hoursOfDay(report)}</div>
            <div class="cards cards-wide">${panels.map((panel) => panel(report))}</div>`}
      </div>`,
  };
};
