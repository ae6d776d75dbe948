// Channels: where messages go. Targets are write-only: an empty field keeps what is stored.

/** @type {[string, string][]} */
const TYPES = [
  ["webhook", "Webhook"],
  ["slack", "Slack"],
  ["discord", "Discord"],
  ["teams", "Teams"],
  ["telegram", "Telegram"],
  ["email", "E-mail"],
  ["apprise", "Apprise"],
];
const WITHOUT_ADDRESS = ["telegram", "email"];
const STATES = { sent: "good", failed: "bad" };

const of = (...types) => ({ type }) => types.includes(type);

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;
  let secret = null;

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  function fields(channel) {
    const target = channel ? { secret: true, placeholder: `stored: ${channel.target_hint ?? "yes"}; leave empty to keep it` } : { required: true };
    return [
      { name: "name", label: "Name", required: true, max: 120, half: true },
      { name: "type", label: "Type", type: "select", options: TYPES, half: true, fixed: Boolean(channel) },
      { name: "url", label: "Address", max: 2000, when: ({ type }) => !WITHOUT_ADDRESS.includes(type), ...target },
      { name: "bot_token", label: "Bot token", max: 2000, when: of("telegram"), ...target },
      { name: "chat_id", label: "Chat", max: 200, when: of("telegram"), ...target },
      { name: "recipients", label: "Recipients, one a line", type: "list", when: of("email"), ...target },
      { name: "secret", label: "Signing key", type: "password", secret: true, max: 200, when: of("webhook"),
        hint: channel?.signed ? "Empty: the stored one stays." : "Empty: one is made, and shown once." },
      { name: "enabled", label: "On", type: "check", value: true },
    ];
  }

  const sent = ({ recipients, ...rest }) => ({ ...rest, ...(recipients?.length && { recipients }) });

  async function add() {
    const made = await ui.ask({ title: "New channel", action: "Add", fields: fields(), save: (values) => api.post("alert-channels", sent(values)) });
    if (!made) return;
    secret = made.secret ?? null;
    ui.toast(`${made.name} is there.`);
    await ui.reload();
  }

  async function edit(channel) {
    const saved = await ui.ask({ title: `Edit ${channel.name}`, fields: fields(channel), values: channel,
      save: ({ type, ...values }) => api.patch("alert-channels", { id: channel.id, ...sent(values) }) });
    if (saved) await ui.reload();
  }

  const test = (channel) => ui.act(
    () => api.post("alert-test", { id: channel.id }).then((answer) => (answer.ok ? answer : Promise.reject(new Error(`Not delivered: ${answer.detail}`)))),
    "The test message was delivered.",
  );

  const toggle = (channel) => ui.act(
    () => api.patch("alert-channels", { id: channel.id, enabled: !channel.enabled }),
    channel.enabled ? "The channel is off." : "The channel is on.",
  );

  async function remove(channel) {
    const gone = await ui.confirm({ title: `Delete ${channel.name}`, text: "Its rules go too.", action: "Delete the channel",
      run: () => api.delete("alert-channels", { id: channel.id }) });
    if (gone) await ui.reload();
  }

  const columns = [
    { name: "name", label: "Channel", sort: true },
    { name: "type", label: "Type", sort: true, view: ({ type }) => TYPES.find(([name]) => name === type)?.[1] ?? type },
    { name: "target_hint", label: "To", view: ({ target_hint: hint }) => html`<code>${hint}</code>` },
    { name: "last_status", label: "Last message", wrap: true, view: ({ enabled, last_status: status, last_error: error }) => enabled
      ? html`<span class="state" data-state=${STATES[status] ?? "off"}>${status ?? "not used yet"}</span> ${error}`
      : html`<span class="state" data-state="off">off</span>` },
    { name: "actions", label: "", view: (channel) => html`<button class="button" type="button" aria-label=${`Test ${channel.name}`} @click=${() => test(channel)}>Test</button>
      ${ui.menu(`Actions of ${channel.name}`, [
        { label: "Edit …", run: () => edit(channel) },
        { label: channel.enabled ? "Switch off" : "Switch on", run: () => toggle(channel) },
        { label: "Delete …", run: () => remove(channel), danger: true },
      ])}` },
  ];

  const once = () => secret && html`<div role="status"><p>Messages are signed with this key. It is shown only now:</p>${ui.snippet(secret, "Signing key")}</div>`;

  return ({ channels }) => html`<section class="card block"><div class="head"><h2>Channels</h2><button class="button button-main" @click=${add}>New channel</button></div>
    ${once()}
    ${ui.table(columns, channels, { id: "channels", label: "Channels", empty: "No channel yet. Add one to be told by mail, chat or webhook what breaks." })}</section>`;
};
