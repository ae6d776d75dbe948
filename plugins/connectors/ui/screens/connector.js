// One connector: test it, see what a sync would do, sync, and how the syncs went.

import editing from "../editing.js";
import parts from "../parts.js";

const SECONDS = 2;
const ACTIONS = {
  new: "new", append: "grew", unchanged: "unchanged", rotation: "rotated", rename: "renamed", reconcile: "partly known",
  already_ingested: "known", index_local: "to be read",
};

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const { edit } = editing(ui);
  const { actions, state, target, runs } = parts(ui);
  /** What was asked for on this page: the result of a test, and a plan. */
  let asked = { id: null, test: null, plan: null, busy: "" };
  let current = null;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ id, page }, { signal }) {
    const [connectors, modules, recent] = await Promise.all([
      api("connectors", {}, { signal }), api("modules", {}, { signal }), api("connectors-runs", { connector_id: id, page }, { signal }),
    ]);
    const connector = connectors.data.find((one) => String(one.id) === id);
    if (!connector) throw Object.assign(new Error("There is no such connector."), { status: 404 });
    if (asked.id !== id) asked = { id, test: null, plan: null, busy: "" };
    return { connector, types: connectors.types, modules: modules.data, runs: recent };
  }

  async function run(what, work) {
    asked.busy = what;
    ui.refresh();
    try {
      await work();
    } catch (error) {
      ui.toast(error.message, { error: true });
    }
    asked.busy = "";
    ui.refresh();
  }

  const test = ({ id }) => run("test", async () => {
    asked.test = await api.post("connectors-test", { id });
  });
  const preview = ({ id }) => run("preview", async () => {
    asked.plan = await api.post("connectors-preview", { id });
  });
  const sync = (connector) => {
    const { plan } = asked;
    asked.plan = null;
    return actions.sync(connector, plan?.snapshot);
  };

  const columns = [
    { name: "path", label: "File", wrap: true, sort: true, view: ({ path }) => html`<code>${path}</code>` },
    { name: "action", label: "State", sort: true, view: ({ action }) => ACTIONS[action] ?? action },
    { name: "size", label: "Size", number: true, sort: true, view: ({ size }) => ui.bytes(size) },
    { name: "bytes_to_fetch", label: "To fetch", number: true, sort: true, view: ({ bytes_to_fetch: size }) => (size ? ui.bytes(size) : "") },
    { name: "modified_at", label: "Changed", sort: true, view: ({ modified_at: at }) => at && html`<ui-ago at=${at}></ui-ago>` },
  ];

  const plan = ({ files, summary }) => html`<section class="card"><h2>What a sync would do</h2>
    <p>${ui.plural(summary.files_to_sync, "file")} of ${ui.number(summary.files)} to read, ${ui.bytes(summary.bytes_to_fetch)} to fetch.</p>
    ${ui.table(columns, files, { id: "plan", label: "Plan", key: "path", empty: "No log file was found." })}</section>`;

  const pair = ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

  const facts = (connector, types) => html`<section class="card"><dl class="pairs pairs-left">${[
    ["From", html`<code>${target(connector, types)}</code>`],
    ["Module", connector.module_name],
    ["Time zone", connector.timezone || "as the application"],
    ["Looks again", connector.interval_minutes ? `every ${ui.plural(connector.interval_minutes, "minute")}` : "on demand"],
    ["Files", ui.number(connector.stream_count)],
    ["Last sync", connector.last_synced_at && html`<ui-ago at=${connector.last_synced_at}></ui-ago>`],
    ["Stored secrets", Object.keys(connector.secrets).filter((name) => connector.secrets[name]?.length ?? connector.secrets[name]).join(", ").replaceAll("_", " ")],
  ].filter(([, value]) => value).map(pair)}</dl>
    ${connector.last_error && html`<p class="problem">${connector.last_error}</p>`}</section>`;

  const outcome = ({ ok, message }) => html`<p class="card" role="status"><span class="state" data-state=${ok ? "good" : "bad"}>${ok ? "It works" : "It does not work"}</span> ${message}</p>`;

  async function change({ connector, modules, types }) {
    if (await edit(connector, { modules, types })) await ui.reload();
  }

  return {
    load,
    heading: (data) => data?.connector.name,
    open: ({ id, page }) => ui.watch("connectors-runs", { connector_id: id, page }, (answer) => {
      current.runs = answer;
      ui.refresh();
    }, SECONDS),
    render(data) {
      current = data;
      const { connector, types } = data;
      const button = (what, label, act) => html`<button class="button" type="button" ?disabled=${asked.busy !== ""} @click=${act}>${asked.busy === what ? "Asking …" : label}</button>`;
      return html`<p class="crumbs"><a href=${ui.link({ view: "connectors" })}>Connectors</a></p>
        <div class="head"><h1 tabindex="-1">${connector.name} ${state(connector)}</h1>
          <span class="toolbar">${button("test", "Test", () => test(connector))} ${button("preview", "Preview", () => preview(connector))}
            <button class="button button-main" type="button" @click=${() => sync(connector)}>Sync</button>
            ${ui.menu(`Actions of ${connector.name}`, [
              { label: "Edit …", run: () => change(data) },
              { label: connector.enabled ? "Disable" : "Enable", run: () => actions.toggle(connector) },
              { label: "Delete …", run: () => actions.remove(connector, async () => ui.go({ view: "connectors" })), danger: true },
            ])}</span></div>
        <div class="stack">${facts(connector, types)} ${asked.test && outcome(asked.test)} ${asked.plan && plan(asked.plan)}
          <section class="card"><h2>Runs</h2>${runs(data.runs.data)}</section>${ui.pager(data.runs.meta, "run")}</div>`;
    },
  };
};
