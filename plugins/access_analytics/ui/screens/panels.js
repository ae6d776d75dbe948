// The lists of a report as tables with bars; rows lead on to their issues and to their lines in the logs.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  /** A path as a log has it: ids are any text without a slash. */
  const written = (path) => path.split("{id}").map(literal).join("[^/ ?\"]+");

  /** The search of the logs, in the time of the report. */
  const lines = (q, regex, { from, to }) => ui.link({ view: "log-search", q, regex: regex ? "true" : null, from, to });

  const pathLines = (path, status, report) => lines(` ${written(path)}${status ? `(\\?[^" ]*)? HTTP[^"]*" ${status}` : "[ ?]"}`, true, report);
  const issues = (text, report) => ui.link({ q: `"${text.replaceAll('"', "")}"`, from: report.from, to: report.to, status: "all" });
  /** The words of a path that an issue can be found by. */
  const known = (path) => path.split("{id}").reduce((long, part) => (part.length > long.length ? part : long), "");

  const name = (id, label, view) => ({ name: id, label, sort: true, wrap: true, view });
  const figure = (id, label, more = {}) => ({ name: id, label, sort: true, number: true, ...more });
  const requests = { ...figure("count", "Requests"), bar: true };
  const size = figure("bytes", "Data", { view: ({ bytes }) => ui.bytes(bytes) });
  const share = (id, label) => figure("share", label, { sort: (row) => row[id] / row.count, view: (row) => `${((100 * row[id]) / row.count).toFixed(row[id] / row.count < 0.1 ? 1 : 0)} %` });
  const ways = (list) => ({ name: "ways", label: "", view: (row) => html`<span class="ways">${list(row).filter(Boolean).map(([label, href, said]) =>
    html`<a href=${href} aria-label=${`${label}: ${said}`}>${label}</a>`)}</span>` });

  function panel(title, note, columns, rows, key, wide = false) {
    if (!rows?.length) return null;
    return html`<section class=${wide ? "card card-full" : "card"}><h2>${title}</h2>${note && html`<p class="hint">${note}</p>`}
      ${ui.table(columns, rows, { id: `access ${title}`, label: title, key })}</section>`;
  }

  const paths = (report) => panel("Pages", null, [
    name("path", "Path", ({ path }) => html`<span class="mono">${path}</span>`), requests,
    figure("server_errors", "5xx"), figure("client_errors", "4xx"), size,
    ...(report.response_time.measured ? [figure("p50_ms", "p50 ms"), figure("p95_ms", "p95 ms"), figure("p99_ms", "p99 ms")] : []),
    ways(({ path, server_errors: failed }) => [failed > 0 && known(path).length > 1 && ["Issues", issues(known(path), report), path], path.startsWith("/") && ["Log lines", pathLines(path, "", report), path]]),
  ], report.top_paths, "path", true);

  const failing = (report) => panel("Server errors by path", "Answered with 5xx.", [
    name("path", "Path", ({ path }) => html`<span class="mono">${path}</span>`), { ...figure("server_errors", "5xx"), bar: true }, share("server_errors", "share of requests"),
    ways(({ path }) => [known(path).length > 1 && ["Issues", issues(known(path), report), path], ["Log lines", pathLines(path, "5\\d\\d", report), path]]),
  ], report.failing_paths, "path");

  const missing = (report) => panel("Not found", "Answered with 404.", [
    name("path", "Path", ({ path }) => html`<span class="mono">${path}</span>`), { ...figure("not_found", "404"), bar: true },
    ways(({ path }) => [["Log lines", pathLines(path, "404", report), path]]),
  ], report.missing_paths, "path");

  const statuses = (report) => panel("Statuses", null, [
    name("status", "Status", ({ status }) => status || "none"), requests,
    ways(({ status }) => [status > 0 && ["Log lines", lines(`" ${status} `, false, report), `status ${status}`]]),
  ], report.statuses, "status");

  const methods = (report) => panel("Methods", null, [
    name("method", "Method"), requests, ways(({ method }) => [method !== "-" && ["Log lines", lines(`"${method} /`, false, report), method]]),
  ], report.methods, "method");

  const agents = (report) => panel("Browsers, tools and bots", null, [
    name("agent", "Agent", ({ agent, bot }) => html`${agent} ${bot && html`<span class="chip">bot</span>`}`), requests,
  ], report.top_agents.map((row) => ({ ...row, key: `${row.agent} ${row.bot}` })), "key");

  const systems = (report) => panel("Operating systems", null, [name("system", "System"), requests], report.top_systems, "system");

  const referrers = (report) => panel("Referrers", "Sites with links that people followed; your own hosts are left out.", [
    name("referrer", "Site"), requests, ways(({ referrer }) => [["Log lines", lines(`//${referrer}`, false, report), referrer]]),
  ], report.top_referrers, "referrer");

  const asked = (title, note, id, label, search) => (report) => panel(title, note, [
    name(id, label, (row) => html`<span class="mono">${row[id]}</span>`), requests, figure("server_errors", "5xx"), figure("client_errors", "4xx"), size,
    ways((row) => [["Log lines", lines(search(row[id]), false, report), row[id]]]),
  ], report[`top_${id}s`], id);

  const hosts = asked("Hosts", "The virtual hosts that were asked.", "host", "Host", (host) => host);
  /** What all addresses of a network begin with. */
  const front = (network) => network.replace(/(0\/24|::\/48|\/48)$/, "");
  const networks = asked("Client networks", "Addresses are never kept, only the network that they are in.", "network", "Network", front);

  return [paths, failing, missing, referrers, networks, hosts, agents, systems, statuses, methods];
};
