// Channels: where messages go. Targets are write-only: an empty field keeps what is stored.

const STATES = { sent: "good", failed: "bad" };

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;
  let secret = null;

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  function fields(types, channel) {
    const shown = types.filter(({ name }) => !channel || name === channel.type);
    const stored = () => channel && `stored${channel.target_hint ? `: ${channel.target_hint}` : ""}`;
    return [
      { name: "name", label: "Name", required: true, max: 120, half: true },
      { name: "type", label: "Type", type: "select", options: shown.map(({ name, title }) => [name, title]), half: true, fixed: Boolean(channel) },
      ...shown.flatMap(({ name, schema }) => ui.fieldsOf(schema, { type: name, stored, when: ({ type }) => type === name })),
      { name: "secret", label: "Signing key", type: "password", secret: true, max: 200, when: ({ type }) => shown.some(({ name, signed }) => signed && name === type),
        hint: channel?.signed ? "Leave empty to keep the stored one." : "Leave empty to generate one; it is shown only once." },
      { name: "enabled", label: "Enabled", type: "check", value: true },
    ];
  }

  async function add(types) {
    const made = await ui.ask({ title: "New channel", action: "Add", fields: fields(types), save: (values) => api.post("alert-channels", values) });
    if (!made) return;
    secret = made.secret ?? null;
    ui.toast(`The channel ${made.name} was added.`);
    await ui.reload();
  }

  async function edit(channel, types) {
    const saved = await ui.ask({ title: `Edit ${channel.name}`, fields: fields(types, channel), values: channel,
      save: ({ type, ...values }) => api.patch("alert-channels", { id: channel.id, ...values }) });
    if (saved) await ui.reload();
  }

  const test = (channel) => ui.act(
    () => api.post("alert-test", { id: channel.id }).then((answer) => (answer.ok ? answer : Promise.reject(new Error(`Not delivered: ${answer.detail}`)))),
    "The test message was delivered.",
  );

  const toggle = (channel) => ui.act(
    () => api.patch("alert-channels", { id: channel.id, enabled: !channel.enabled }),
    channel.enabled ? "Channel disabled." : "Channel enabled.",
  );

  async function remove(channel) {
    const gone = await ui.confirm({ title: `Delete ${channel.name}`, text: "Its rules go too.", action: "Delete the channel",
      run: () => api.delete("alert-channels", { id: channel.id }) });
    if (gone) await ui.reload();
  }

  const columns = (types) => [
    { name: "name", label: "Channel", sort: true },
    { name: "type", label: "Type", sort: true, view: ({ type }) => types.find(({ name }) => name === type)?.title ?? type },
    { name: "target_hint", label: "To", view: ({ target_hint: hint }) => html`<code>${hint}</code>` },
    { name: "last_status", label: "Last message", wrap: true, view: ({ enabled, last_status: status, last_error: error }) => enabled
      ? html`<span class="state" data-state=${STATES[status] ?? "off"}>${status ?? "not used yet"}</span> ${error}`
      : html`<span class="state" data-state="off">off</span>` },
    { name: "actions", label: "", view: (channel) => html`<button class="button" type="button" aria-label=${`Test ${channel.name}`} @click=${() => test(channel)}>Test</button>
      ${ui.menu(`Actions of ${channel.name}`, [
        { label: "Edit …", run: () => edit(channel, types) },
        { label: channel.enabled ? "Disable" : "Enable", run: () => toggle(channel) },
        { label: "Delete …", run: () => remove(channel), danger: true },
      ])}` },
  ];

  const once = () => secret && html`<div role="status"><p>Messages are signed with this key. Copy it now; it won't be shown again:</p>${ui.snippet(secret, "Signing key")}</div>`;

  return ({ channels, types }) => html`<section class="card block"><div class="head"><h2>Channels</h2><button class="button button-main" @click=${() => add(types)}>New channel</button></div>
    ${once()}
    ${ui.table(columns(types), channels, { id: "channels", label: "Channels", empty: "No channel yet. Add one to get alerts by e-mail, chat or webhook." })}</section>`;
};
