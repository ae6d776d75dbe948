// The figures of a time: three that matter first, the others small, each with its change against the time before.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;
  const percent = (share) => `${(share * 100).toFixed(share && share < 0.1 ? 2 : 1)} %`;
  const ms = (value) => (value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${ui.number(value)} ms`);

  /** How a figure changed; `bad` is the direction that is no good news. */
  function change(now, before, bad = "") {
    if (before === undefined || before === null || now === null) return null;
    if (!before) return now ? html`<span class="change">none before</span>` : null;
    const share = (now - before) / before;
    const size = Math.abs(share) >= 10 ? `${Math.round(now / before)} times` : `${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
    if (Math.abs(share) < 0.0005) return html`<span class="change">no change</span>`;
    const way = share > 0 ? "up" : "down";
    const mood = bad && (way === bad ? "bad" : "good");
    return html`<span class="change" data-state=${mood || null}><span aria-hidden="true">${share > 0 ? "▲" : "▼"}</span>
      ${size}<span class="off-screen"> ${share > 0 ? "more" : "less"} than before</span></span>`;
  }

  const big = (name, value, more, changed) => html`<div><dt>${name}</dt><dd>${value} ${changed}</dd>${more && html`<dd class="count">${more}</dd>`}</div>`;
  const small = (name, value, changed) => html`<div><dt>${name}</dt><dd>${value} ${changed}</dd></div>`;

  return (report) => {
    const { before, response_time: times } = report;
    const was = before?.response_time;
    return html`<section class="card" aria-label="Figures">
      <dl class="figures figures-big">
        ${big("Requests", ui.number(report.total), null, change(report.total, before?.total))}
        ${big("Visitors", ui.number(report.unique_visitors), "about, by address and browser", change(report.unique_visitors, before?.unique_visitors))}
        ${big("Server errors (5xx)", percent(report.server_error_rate), ui.plural(report.server_errors, "request"), change(report.server_error_rate, before?.server_error_rate, "up"))}
      </dl>
      <dl class="figures figures-small">
        ${small("Client errors (4xx)", `${percent(report.client_error_rate)} · ${ui.number(report.client_errors)}`, change(report.client_error_rate, before?.client_error_rate, "up"))}
        ${times.measured > 0 && ["p50", "p95", "p99"].map((rank) =>
          small(`Response time ${rank}`, ms(times[`${rank}_ms`]), change(times[`${rank}_ms`], was?.[`${rank}_ms`], "up")))}
        ${small("Data sent", ui.bytes(report.bytes), change(report.bytes, before?.bytes))}
        ${small("Unique paths", ui.number(report.unique_paths), change(report.unique_paths, before?.unique_paths))}
        ${small("By bots", ui.number(report.bots), change(report.bots, before?.bots))}
        ${small("By scanners", ui.number(report.scanners), change(report.scanners, before?.scanners))}
        ${report.malformed > 0 && small("Malformed", ui.number(report.malformed))}
        ${report.not_understood > 0 && small("Lines not understood", ui.number(report.not_understood))}
      </dl></section>`;
  };
};
