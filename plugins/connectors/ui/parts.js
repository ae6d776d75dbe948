// What the page of all connectors and the page of one share.

const STATES = { success: "good", failed: "bad", running: "busy", queued: "busy", cancelled: "off" };

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  /** Where a connector reads from: what its type cannot do without. */
  const target = ({ type, config }, types) => {
    const { schema } = types.find(({ name }) => name === type) ?? {};
    return schema?.required?.flatMap((name) => config[name] ?? []).join(" ") || type;
  };

  function state({ enabled, last_status: status, last_error: error }) {
    if (!enabled) return html`<span class="state" data-state="off">off</span>`;
    return html`<span class="state" data-state=${STATES[status] ?? "off"} title=${error}>${status ?? "not used yet"}</span>`;
  }

  const sync = (connector, snapshot) => ui.act(async () => {
    const answer = await api.post("connectors-sync", { id: connector?.id, snapshot });
    if (answer.job_id) ui.follow(answer.job_id, { label: `Sync ${connector?.name ?? "of all connectors"}`, done: () => ui.reload() });
    return answer;
  }, ({ warning }) => warning ?? "The sync has begun.");

  const test = ({ id, name }) => ui.act(
    () => api.post("connectors-test", { id }).then((answer) => (answer.ok ? answer : Promise.reject(new Error(`${name}: ${answer.message}`)))),
    ({ message }) => `${name}: ${message}`,
  );

  const toggle = ({ id, name, enabled }) => ui.act(() => api.patch("connectors", { id, enabled: !enabled }), `${name} ${enabled ? "disabled" : "enabled"}.`);

  async function remove(connector, gone = ui.reload) {
    const deleted = await ui.confirm({
      title: `Delete ${connector.name}`,
      text: "Its runs and its copies of remote files go. The issues and events that came from it stay.",
      action: "Delete the connector",
      run: () => api.delete("connectors", { id: connector.id }),
    });
    if (deleted) await gone();
  }

  const share = (run) => run.status === "running"
    ? ui.progress({ done: run.files_completed, total: run.files_discovered, unit: "files", text: run.current_file }, `Run ${run.id}`)
    : html`${ui.number(run.files_updated)} of ${ui.plural(run.files_discovered, "file")}`;

  const columns = [
    { name: "started_at", label: "When", view: ({ started_at: at, updated_at: other }) => html`<ui-ago at=${at ?? other}></ui-ago>` },
    { name: "connector_name", label: "Connector" },
    { name: "status", label: "Status", view: ({ status }) => html`<span class="state" data-state=${STATES[status]}>${status}</span>` },
    { name: "files", label: "Files updated", view: share },
    { name: "bytes_fetched", label: "Fetched", number: true, view: ({ bytes_fetched: size }) => ui.bytes(size) },
    { name: "events_indexed", label: "Events", number: true },
    { name: "message", label: "Message", wrap: true },
  ];

  const runs = (rows) => ui.table(columns, rows, { label: "Runs", empty: "No sync yet." });

  return { actions: { sync, test, toggle, remove }, state, target, runs };
};
