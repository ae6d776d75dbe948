// The form of the settings. Secrets are only written: what is stored never comes here.

const PROVIDERS = { linear: "Linear", github: "GitHub", gitlab: "GitLab", jira: "Jira", generic: "Generic (signed JSON)" };
// name, label, the providers that have it, placeholder
const TEXTS = [
  ["project", "Project", ["linear", "github", "gitlab", "jira"], { github: "owner/repository", gitlab: "group/project", jira: "SHOP" }],
  ["team_key", "Team key", ["linear"], { linear: "ENG" }],
  ["account", "E-mail of the key's owner", ["jira"], {}],
  ["endpoint_url", "Address", Object.keys(PROVIDERS), { jira: "https://yours.atlassian.net", generic: "https://…", github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4", linear: "https://api.linear.app/graphql" }],
];
const LISTS = [["labels", "Labels, with commas"], ["assignees", "Assignees, with commas"]];
const FLAGS = [
  ["assigned_to_me", "Items assigned to the key's owner"],
  ["status_pull", "Let issues follow their items"],
  ["status_writeback", "Write statuses out"],
  ["status_writeback_comment", "With a comment"],
  ["enabled", "On"],
];
const SECRETS = [["api_key", "API key", "api_key_source"], ["webhook_secret", "Webhook secret", "webhook_secret_source"]];

export default (ui) => {
  const { html, api, keyed } = ui;
  let chosen = null;

  const list = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

  async function send(body, done) {
    try {
      await api.patch("tracker-settings", body);
      chosen = null;
      ui.toast(done);
    } catch (error) {
      ui.toast(error.message, { error: true });
      return false;
    }
    await ui.reload();
    return true;
  }

  async function save(event) {
    event.preventDefault();
    const form = event.target;
    const given = new FormData(form);
    const body = { provider: given.get("provider") };
    for (const [name] of TEXTS) if (given.has(name)) body[name] = given.get(name);
    for (const [name] of LISTS) if (given.has(name)) body[name] = list(given.get(name));
    for (const [name] of FLAGS) body[name] = given.has(name);
    for (const [name] of SECRETS) if (given.get(name)) body[name] = given.get(name);
    if (await send(body, "Saved.")) for (const [name] of SECRETS) if (form.elements[name]) form.elements[name].value = "";
  }

  const clear = (name, label) => ui.confirm({
    title: `Forget the stored ${label.toLowerCase()}`,
    text: "The tracker is switched off.",
    action: "Forget it",
    run: () => send({ [name]: "", enabled: false }, "Forgotten."),
  });

  const secret = ([name, label, source], settings) => {
    const from = settings[source];
    if (from === "env") return html`<p>${label}: set by the environment.</p>`;
    return html`<label>${label} <input name=${name} type="password" autocomplete="new-password" maxlength="4000"
        placeholder=${from === "stored" ? "stored; empty keeps it" : "none"} /></label>
      ${from === "stored" && html`<button class="button button-plain" type="button" @click=${() => clear(name, label)}>Forget the ${label.toLowerCase()}</button>`}`;
  };

  return (settings) => {
    const provider = chosen ?? settings.provider;
    const names = { ...PROVIDERS, ...(provider in PROVIDERS ? {} : { [provider]: provider }) };
    const shown = TEXTS.filter(([, , of]) => of.includes(provider) || !(provider in PROVIDERS));
    return html`<section class="card"><h2>Settings</h2>
      <form aria-label="Tracker settings" @submit=${save}>
        <p class="toolbar"><label>Tracker <select name="provider" .value=${provider} @change=${({ target }) => {
          chosen = target.value;
          ui.refresh();
        }}>${keyed(Object.entries(names), ([id]) => id, ([id, label]) => html`<option value=${id}>${label}</option>`)}</select></label>
        ${keyed(shown, ([name]) => name, ([name, label, , hints]) => html`<label>${label}
          <input name=${name} value=${settings[name]} placeholder=${hints[provider] ?? ""} maxlength="2000" autocomplete="off" /></label>`)}</p>
        ${provider !== "generic" && html`<p class="toolbar">${LISTS.map(([name, label]) => html`<label>${label}
          <input name=${name} value=${settings[name].join(", ")} autocomplete="off" /></label>`)}</p>`}
        <p class="toolbar">${SECRETS.map((one) => secret(one, settings))}</p>
        <p class="toolbar">${FLAGS.map(([name, label]) => html`<label>
          <input type="checkbox" name=${name} ?checked=${settings[name]} /> ${label}</label>`)}</p>
        <button class="button button-main">Save</button>
      </form></section>`;
  };
};
