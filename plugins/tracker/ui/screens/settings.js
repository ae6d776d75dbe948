// The form of the settings. Secrets are only written: what is stored never comes here.

/** @type {[string, string, string][]} */
const SECRETS = [["api_key", "API key", "api_key_source"], ["webhook_secret", "Webhook secret", "webhook_secret_source"]];

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  const previous = ({ webhook_secret_previous_until: until }) => until
    ? `The one before is taken too until ${ui.clock(until, "exact")}.`
    : "At least 8 characters. When it is changed, the one before is taken for 24 hours more.";

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field} */
  const secret = (settings, [name, label, source]) => settings[source] === "env"
    ? { name, label, fixed: true, half: true, secret: true, placeholder: "set by the environment" }
    : { name, label, type: "password", secret: true, max: 4000, half: true, placeholder: settings[source] === "stored" ? "stored; leave empty to keep it" : "none",
      ...(name === "webhook_secret" && { hint: previous(settings) }) };

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  function fields(settings) {
    const { types, provider: now } = settings;
    const gone = types.some(({ name }) => name === now) ? [] : [[now, `${now} (not installed)`]];
    const pulling = ({ provider }) => types.some(({ name, reads }) => reads && name === provider);
    return [
      { name: "provider", label: "Tracker", type: "select", options: [...types.map(({ name, title }) => [name, title]), ...gone] },
      ...types.flatMap(({ name, schema }) => ui.fieldsOf({ ...schema, required: [] }, { type: name, values: settings, when: ({ provider }) => provider === name })),
      ...SECRETS.map((one) => secret(settings, one)),
      { name: "labels", label: "Only items with these labels, one per line", type: "list", half: true, when: pulling },
      { name: "assignees", label: "Only items of these assignees, one per line", type: "list", half: true, when: pulling },
      { name: "assigned_to_me", label: "Only items assigned to the key's owner", type: "check", when: pulling },
      { name: "status_pull", label: "Issues take the status of their items", type: "check" },
      { name: "status_writeback", label: "Items take the status of their issues", type: "check" },
      { name: "status_writeback_comment", label: "With a comment in the item", type: "check", when: ({ status_writeback: on }) => on },
      { name: "enabled", label: "Enabled", type: "check", hint: "Off: nothing is read, and nothing is sent." },
    ];
  }

  async function save(values) {
    await api.patch("tracker-settings", values);
    ui.toast("Saved.");
    await ui.reload();
  }

  const form = (settings) => ui.form({ label: "Tracker settings", fields: fields(settings), values: settings, save, keep: true });

  const forget = (name, label) => ui.confirm({
    title: `Forget the stored ${label.toLowerCase()}`,
    text: "The tracker is disabled.",
    action: "Forget it",
    async run() {
      await api.patch("tracker-settings", { [name]: "", enabled: false });
      ui.toast("Forgotten.");
      await ui.reload();
    },
  });

  const view = (settings, made) => {
    const stored = SECRETS.filter(([, , source]) => settings[source] === "stored");
    return html`<section class="card block"><h2>Settings</h2>${made}
      ${stored.length > 0 && html`<p class="toolbar">${stored.map(([name, label]) => html`<button class="button" type="button"
        @click=${() => forget(name, label)}>Forget the ${label.toLowerCase()} …</button>`)}</p>`}</section>`;
  };

  return { form, view };
};
