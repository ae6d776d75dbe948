// All connectors: where logs are fetched from.

import editing from "../editing.js";
import parts from "../parts.js";

const SECONDS = 5;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const { add, edit } = editing(ui);
  const { actions, state, target, runs } = parts(ui);
  let current = null;

  async function create(known) {
    const made = await add(known);
    if (made) ui.go({ view: "connector", id: made.id });
  }

  async function change(connector, known) {
    if (await edit(connector, known)) await ui.reload();
  }

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ page }, { signal }) {
    const [connectors, modules, recent] = await Promise.all([
      api("connectors", {}, { signal }), api("modules", {}, { signal }), api("connectors-runs", { page }, { signal }),
    ]);
    return { connectors: connectors.data, types: connectors.types, modules: modules.data, runs: recent };
  }

  const columns = (known) => [
    { name: "name", label: "Connector", sort: true, view: ({ id, name }) => html`<a href=${ui.link({ view: "connector", id })}>${name}</a>` },
    { name: "type", label: "Type", sort: true, view: ({ type }) => known.types.find(({ name }) => name === type)?.title ?? type },
    { name: "target", label: "From", wrap: true, view: (connector) => html`<code>${target(connector, known.types)}</code>` },
    { name: "module_name", label: "Module", sort: true },
    { name: "interval_minutes", label: "Every", number: true, sort: true, view: ({ interval_minutes: minutes }) => (minutes ? `${ui.number(minutes)} min` : "on demand") },
    { name: "stream_count", label: "Files", number: true, sort: true },
    { name: "last_synced_at", label: "Last sync", sort: true, view: ({ last_synced_at: at }) => (at ? html`<ui-ago at=${at}></ui-ago>` : html`<span class="faint">never</span>`) },
    { name: "last_status", label: "Status", view: state },
    { name: "actions", label: "", view: (connector) => html`<button class="button" type="button" aria-label=${`Sync ${connector.name}`} @click=${() => actions.sync(connector)}>Sync</button>
      ${ui.menu(`Actions of ${connector.name}`, [
        { label: "Edit …", run: () => change(connector, known) },
        { label: "Test", run: () => actions.test(connector) },
        { label: connector.enabled ? "Disable" : "Enable", run: () => actions.toggle(connector) },
        { label: "Delete …", run: () => actions.remove(connector), danger: true },
      ])}` },
  ];

  return {
    load,
    open: () => ui.watch("connectors", {}, (answer) => {
      current.connectors = answer.data;
      ui.refresh();
    }, SECONDS),
    render(data) {
      current = data;
      return html`<div class="head"><h1 tabindex="-1">Connectors</h1>
          <span class="toolbar">${data.connectors.some(({ enabled }) => enabled) && html`<button class="button" @click=${() => actions.sync(null)}>Sync all</button>`}
            <button class="button button-main" @click=${() => create(data)}>New connector</button></span></div>
        <div class="stack">
          <section class="card">${ui.table(columns(data), data.connectors, { id: "connectors", label: "Connectors",
            empty: "No connector yet. One reads the logs of a folder, of another machine, or of a bucket, and reads on as they grow." })}</section>
          ${data.runs.meta.total > 0 && html`<section class="card"><h2>Runs</h2>${runs(data.runs.data)}</section>${ui.pager(data.runs.meta, "run")}`}
        </div>`;
    },
  };
};
