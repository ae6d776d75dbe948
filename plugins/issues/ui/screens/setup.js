// The way to the first event, with the addresses of this very deployment: a page, and what an empty list shows.

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;
  let current = null;

  /** Commands for the machine of the service, and a request from anywhere. */
  function commands() {
    const app = ui.query().app;
    const base = location.origin + location.pathname;
    const command = `snaglist import${app ? ` --app ${app}` : ""} /var/log/myapp`;
    const body = JSON.stringify({ title: "First issue from curl", severity: "WARNING" });
    const address = `${base}?api=issues${app ? `&app=${app}` : ""}`;
    const key = ui.signedIn() ? ' -H "X-Service-Token: $SERVICE_TOKEN"' : "";
    const request = `curl${key} -H 'Content-Type: application/json' -d ${quote(body)} ${quote(address)}`;
    return html`<section class="panel"><h2>On the command line</h2>
      <p>Read a log file or folder of this server (with <code>--data</code>, if its data directory is not <code>./data</code>):</p>
      ${ui.snippet(command, "Import command")}
      <p>Create an issue manually, from anywhere:</p>
      ${ui.snippet(request, "Request that creates an issue")}</section>`;
  }

  const ways = () => html`<div class="cards cards-ways">${ui.slot("setup", ui.application() ?? {})}${commands()}</div>
    <p class="further">Logs of other kinds, or events over HTTP? <a href=${ui.link({ view: "plugins" })}>See the plugins</a></p>`;

  const waiting = () => html`<p class="live" role="status"><span class="pulse"></span> Waiting for the first event …</p>`;

  /** What an empty list shows. */
  const view = () => html`<section class="stack">
    <div class="head"><div><h2>Nothing received yet</h2><p class="faint">Drop a log, or choose how logs come in by themselves. Issues show here within seconds.</p></div>${waiting()}</div>
    ${ways()}</section>`;

  return {
    view,
    load: (_query, options) => api("summary", {}, options),
    open: () => ui.watch("summary", {}, ({ total }) => {
      current.total = total;
      ui.refresh();
    }, 2),
    render(data) {
      current = data;
      const { groups_count: issues, occurrences } = data.total;
      return html`<div class="head"><h1 tabindex="-1">Add logs</h1>${issues > 0
        ? html`<p role="status">${ui.plural(occurrences, "event")} in ${ui.plural(issues, "issue")} so far. <a href=${ui.link({})}>See the issues</a></p>`
        : waiting()}</div>${ways()}`;
    },
  };
};
