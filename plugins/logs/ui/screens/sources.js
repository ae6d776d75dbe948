// The files that were read, newest import first.

import deleting from "../deleting.js";
import importing from "../importing.js";
import howRead from "../reading.js";

const LIMIT = 50;
const SECONDS = 5;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const remove = deleting(ui);
  const importNow = importing(ui);
  const how = howRead(ui);
  let current = null;

  const reread = ({ id, channel }) => ui.act(
    () => api.post("reindex", { source_id: id }).then(({ job_id: job }) => ui.follow(job, { label: `Reading ${channel} again`, done: () => ui.reload() })),
    "The source is being read again.",
  );

  /** What is pushed has no file, and so no raw lines. */
  const raw = ({ log_type: type }) => type !== "http";

  const BAD = "EMERGENCY,ALERT,CRITICAL,ERROR";

  /**
   * What came out of a log in the last 24 hours: a chart of its hours, and the errors, which lead to their issues. Where only
   * the newest events were counted, a chart would show hours as empty that are not.
   */
  const lately = ({ channel, activity }) => activity && (activity.complete ? html`<ui-bars class="spark" values=${activity.hours.join()} label=${`Events per hour of ${channel}, 24 hours`}></ui-bars>`
    : html`<span class="faint">over ${ui.plural(activity.hours.reduce((sum, count) => sum + count, 0), "event")}</span>`);
  const errors = ({ channel, activity }) => activity?.errors > 0
    && html`<a href=${ui.link({ source: channel, severity: BAD, range: "24h", status: "all" })}>${activity.complete ? "" : "over "}${ui.number(activity.errors)}</a>`;

  const columnsOf = (rows) => [
    { name: "channel", label: "Log", sort: true, wrap: true, view: (source) => html`${raw(source)
      ? html`<a href=${ui.link({ view: "source", id: source.id })}>${source.channel}</a>` : source.channel}
      <div class="faint mono path">${source.path}</div>${how.remarks(source)}` },
    { name: "lately", label: "24 hours", view: lately },
    { name: "errors", label: "Errors", number: true, sort: ({ activity }) => activity?.errors ?? null, view: errors },
    rows.some(({ module_name: name }) => name) && { name: "module_name", label: "Module", sort: true, view: ({ module_name: name, module_color: color }) => name && html`<span class="chip" vars=${{ "--tag": color }}>${name}</span>` },
    { name: "log_type", label: "Format", sort: true },
    { name: "entries", label: "Entries", number: true, sort: ({ reading: counts }) => counts?.entries ?? null, view: (source) => how.short(source) },
    { name: "occurrence_count", label: "Events", number: true, sort: true,
      view: ({ channel, occurrence_count: count, deleted }) => html`<a href=${ui.link({ source: channel, status: "all" })}>${ui.number(count)}</a>
        ${deleted ? html`<div class="faint">${ui.number(deleted)} deleted</div>` : null}` },
    { name: "size", label: "Size", number: true, sort: true, view: ({ size }) => ui.bytes(size) },
    { name: "imported_at", label: "Last read", sort: true, view: ({ imported_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "status", label: "Status", view: ({ status, last_error: error }) => html`<span class="state" data-state=${error ? "bad" : status === "ok" ? "good" : "off"}
      title=${error}>${error ? "Failed" : status === "ok" ? "Read" : ui.sentence(status)}</span>` },
    { name: "actions", label: "", view: (source) => ui.menu(`Actions of ${source.channel} (${source.id})`, [
      { label: "Read again", run: () => reread(source) },
      { label: "Delete events …", run: () => remove({ source_id: source.id }), danger: true },
    ]) },
  ].filter(Boolean);

  const empty = html`No log was read yet. <a href=${ui.link({ view: "setup" })}>Add logs</a>`;

  return {
    load: ({ page }, { signal }) => api("sources", { page, limit: LIMIT, activity: true }, { signal }),
    open: ({ page }) => ui.watch("sources", { page, limit: LIMIT }, ({ data, meta }) => {
      // What came lately is counted once for each time that the page is loaded.
      const known = new Map(current.data.map(({ id, activity }) => [id, activity]));
      Object.assign(current, { data: data.map((row) => ({ ...row, activity: known.get(row.id) })), meta });
      ui.refresh();
    }, SECONDS),
    render(data) {
      current = data;
      return html`<div class="head"><h1 tabindex="-1">Logs</h1>
          <span class="toolbar"><a class="button" href=${ui.link({ view: "log-search" })}>Search logs</a>
            <a class="button" href=${ui.link({ view: "formats" })}>Formats</a>
            <button class="button" @click=${importNow}>Read the drop folder now</button>
            <a class="button button-main" href=${ui.link({ view: "setup" })}>Add logs</a></span></div>
        <section class="card">${ui.table(columnsOf(data.data), data.data, { id: "sources", label: "Logs", empty })}</section>
        ${ui.pager(data.meta, "log")}`;
    },
  };
};
