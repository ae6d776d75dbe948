// Rules: what is worth a message, and what a rule would have sent.

const TRIGGERS = {
  new_error: "a new issue",
  reoccurrence: "an issue that came back",
  spike: "a spike in events",
  threshold: "many events in a period",
  users: "an issue that affects many users",
  heartbeat: "no events for a period",
};
const FIRST = 8; // alerts of a dry run that are shown at once
const LEVELS = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];

const of = (...triggers) => ({ trigger_type: trigger }) => triggers.includes(trigger);
const id = (text) => (text === "" ? "" : Number(text));

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api, keyed } = ui;
  let tried = null;

  const choice = (any, items) => [["", any], ...items.map((item) => [String(item.id), item.name])];

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  const fields = ({ channels, modules, tags }) => [
    { name: "name", label: "Name", required: true, max: 120 },
    { name: "trigger_type", label: "When there is", type: "select", options: Object.entries(TRIGGERS), half: true },
    { name: "channel_id", label: "Send to", type: "select", options: channels.map((channel) => [String(channel.id), channel.name]), read: id,
      value: channels[0]?.id, half: true },
    { name: "min_count", label: "At least this many events (or users)", type: "number", min: 1, max: 1_000_000, value: 1, required: true, half: true,
      when: of("new_error", "spike", "threshold", "users") },
    { name: "spike_factor", label: "Multiple of the average", type: "number", min: 1.5, max: 1000, step: "any", value: 3, required: true, half: true, when: of("spike") },
    { name: "window_minutes", label: "Within (minutes)", type: "number", min: 1, max: 10_080, value: 60, required: true, half: true, when: of("threshold", "heartbeat") },
    { name: "cooldown_minutes", label: "Mute for (minutes)", type: "number", min: 0, max: 10_080, value: 60, required: true, half: true,
      when: of("reoccurrence", "spike", "threshold", "users") },
    { name: "severities", label: "Levels (none selected: all)", type: "checks", options: LEVELS.map((name) => [name, ui.level(name)]) },
    { name: "module_id", label: "Only in module", type: "select", options: choice("Any", modules), read: id, none: true, half: true },
    { name: "tag_id", label: "Only with tag", type: "select", options: choice("Any", tags), read: id, none: true, half: true },
    { name: "environment", label: "Only in environment", max: 100, placeholder: "any", none: true, half: true },
    { name: "source", label: "Only from source", max: 255, placeholder: "any", none: true, half: true, when: of("heartbeat") },
    { name: "enabled", label: "Enabled", type: "check", value: true },
  ];

  async function add(data) {
    const made = await ui.ask({ title: "New rule", action: "Add", fields: fields(data), save: (values) => api.post("alert-rules", values) });
    if (!made) return;
    ui.toast("Rule enabled.");
    await ui.reload();
  }

  async function edit(rule, data) {
    const saved = await ui.ask({ title: `Edit ${rule.name}`, fields: fields(data), values: rule,
      save: (values) => api.patch("alert-rules", { id: rule.id, ...values }) });
    if (saved) await ui.reload();
  }

  async function dryRun(rule) {
    const answer = await ui.act(() => api.post("alert-test", { rule_id: rule.id }), "");
    if (!answer) return;
    tried = { name: rule.name, ...answer };
    ui.refresh();
  }

  const toggle = (rule) => ui.act(
    () => api.patch("alert-rules", { id: rule.id, enabled: !rule.enabled }),
    rule.enabled ? "Rule disabled." : "Rule enabled.",
  );

  async function remove(rule) {
    const gone = await ui.confirm({ title: `Delete ${rule.name}`, action: "Delete the rule", run: () => api.delete("alert-rules", { id: rule.id }) });
    if (gone) await ui.reload();
  }

  const about = (rule) => [
    TRIGGERS[rule.trigger_type], rule.severities.map(ui.level).join(", "), rule.environment, rule.module_name, rule.tag_name, rule.source,
  ].filter(Boolean).join(" · ");

  const columns = (data) => [
    { name: "name", label: "Rule", sort: true },
    { name: "about", label: "When", wrap: true, view: about },
    { name: "channel_name", label: "To", sort: true },
    { name: "last_triggered_at", label: "Last time", sort: true, view: ({ enabled, last_triggered_at: at }) => !enabled
      ? html`<span class="state" data-state="off">off</span>` : at ? html`<ui-ago at=${at}></ui-ago>` : html`<span class="faint">never</span>` },
    { name: "actions", label: "", view: (rule) => html`<button class="button" type="button" aria-label=${`Dry run of ${rule.name}`} @click=${() => dryRun(rule)}>Dry run</button>
      ${ui.menu(`Actions of the rule ${rule.name}`, [
        { label: "Edit …", run: () => edit(rule, data) },
        { label: rule.enabled ? "Disable" : "Enable", run: () => toggle(rule) },
        { label: "Delete …", run: () => remove(rule), danger: true },
      ])}` },
  ];

  const firings = (items) => html`<ul>${keyed(items, (_, at) => at, ({ at, group_id: issue, title }) => html`<li><ui-ago at=${at}></ui-ago>
    ${issue ? html`<a href=${ui.link({ view: "issue", id: issue })}>${title}</a>` : title}</li>`)}</ul>`;

  const outcome = () => tried && html`<section class="block" role="status">
    <h3>Dry run of ${tried.name}: ${ui.plural(tried.would_fire, "alert")} in the last ${tried.window_days} days</h3>
    <p class="faint">This is what the rule would have sent. Nothing was sent.</p>
    ${firings(tried.items.slice(0, FIRST))}
    ${tried.items.length > FIRST && html`<details><summary>${ui.number(tried.items.length - FIRST)} more</summary>${firings(tried.items.slice(FIRST))}</details>`}
    ${tried.truncated && html`<p>There may be more.</p>`}</section>`;

  return (data) => html`<section class="card block"><div class="head"><h2>Rules</h2>
      ${data.channels.length > 0 && html`<button class="button button-main" @click=${() => add(data)}>New rule</button>`}</div>
    ${ui.table(columns(data), data.rules, { id: "rules", label: "Rules", empty: data.channels.length
      ? "No rule yet. A rule decides what triggers an alert." : "Add a channel first." })}
    ${outcome()}</section>`;
};
