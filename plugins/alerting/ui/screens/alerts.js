// Channels, rules with a dry run, and what became of the messages.

import channels from "./channels.js";
import rules from "./rules.js";

const STATES = { sent: "good", failed: "bad", suppressed: "off", queued: "busy", retrying: "busy" };

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const views = { channels: channels(ui), rules: rules(ui) };

  const columns = [
    { name: "created_at", label: "When", view: ({ created_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "rule_name", label: "Rule", view: (row) => row.rule_name ?? (row.trigger_type === "digest" ? "Digest" : "deleted") },
    { name: "channel_name", label: "Channel", view: (row) => row.channel_name ?? "deleted" },
    { name: "status", label: "Status", view: ({ status }) => html`<span class="state" data-state=${STATES[status] ?? "off"}>${status}</span>` },
    { name: "attempts", label: "Attempts", number: true },
    { name: "detail", label: "Detail", wrap: true },
  ];

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  async function load({ page }, { signal }) {
    // Modules and tags are core; who may not read them filters by neither.
    const optional = (name) => api(name, {}, { signal }).catch((error) => (error.status === 403 ? { data: [] } : Promise.reject(error)));
    const [allChannels, allRules, events, modules, tags] = await Promise.all([
      api("alert-channels", {}, { signal }), api("alert-rules", {}, { signal }), api("alert-events", { page }, { signal }),
      optional("modules"), optional("tags"),
    ]);
    return { channels: allChannels.data, types: allChannels.types, rules: allRules.data, events, modules: modules.data, tags: tags.data };
  }

  return {
    load,
    render: (data) => html`<h1 tabindex="-1">Alerts</h1>
      <div class="stack page-body">${views.channels(data)} ${views.rules(data)}
        <section class="card"><h2>Messages</h2>${ui.table(columns, data.events.data, { label: "Messages", empty: "Nothing was sent yet." })}
          ${data.events.meta.total > 0 && ui.pager(data.events.meta, "message")}</section></div>`,
  };
};
