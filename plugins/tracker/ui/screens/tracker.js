// The page of the tracker: its state and a test, the settings, the address for webhooks.

import syncing from "../syncing.js";
import settingsForm from "./settings.js";

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const sync = syncing(ui);
  const parts = settingsForm(ui);

  async function test() {
    try {
      const { ok, viewer, message } = await api.post("tracker-test");
      ui.toast(viewer ? `${message} The key is ${viewer.name}'s.` : message, { error: !ok });
    } catch (error) {
      const said = error.message.replace(/^\w+: /, ""); // the name of the field is the API's
      ui.toast(`${said[0].toUpperCase()}${said.slice(1)}.`.replace("..", "."), { error: true });
    }
  }

  const titleOf = ({ provider, types }) => types.find(({ name }) => name === provider)?.title ?? provider;
  const reads = ({ provider, types }) => types.some((one) => one.reads && one.name === provider);

  const state = (settings, { enabled, sync: at } = settings) => html`<section class="card"><h2>State</h2>
    <p role="status">${enabled ? `On, with ${titleOf(settings)}.` : "Off."}
      ${at.synced_through ? html`Pulled <ui-ago at=${at.synced_through}></ui-ago>.` : "Nothing was pulled yet."}
      ${at.synced_through && !at.backfill_complete && "Older items are still to come."}</p>
    ${at.last_error && html`<p><b>The last time failed:</b> ${at.last_error}</p>`}
    ${sync.progress(at.in_progress)}
    <p class="toolbar">
      <button class="button" type="button" ?disabled=${!enabled || !reads(settings) || sync.busy()} @click=${() => sync.run({ action: "pull" })}>Pull now</button>
      <button class="button" type="button" @click=${test}>Test what is saved</button></p></section>`;

  const webhook = (settings) => html`<section class="card"><h2>Webhook</h2>
    <p>Let the tracker send what happens to its issues to this address, signed with the webhook secret:</p>
    <p><code>${settings.webhook_url}</code> <ui-copy text=${settings.webhook_url}></ui-copy></p>
    <p>${settings.webhook_configured ? "A secret is set." : "Webhooks are not ready: no secret is set, so every one is refused."}</p></section>`;

  return {
    async load(_query, { signal }) {
      const settings = await api("tracker-settings", {}, { signal });
      return { settings, form: parts.form(settings) };
    },
    render: ({ settings, form }) => html`<h1 tabindex="-1">Tracker</h1>
      <div class="stack page-body">${state(settings)} ${parts.view(settings, form)} ${webhook(settings)}</div>`,
  };
};
