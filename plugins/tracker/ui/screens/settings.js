// The form of the settings. Secrets are only written: what is stored never comes here.

const PROVIDERS = { linear: "Linear", github: "GitHub", gitlab: "GitLab", jira: "Jira", generic: "Generic (signed JSON)" };
/** @type {[string, string, string][]} */
const SECRETS = [["api_key", "API key", "api_key_source"], ["webhook_secret", "Webhook secret", "webhook_secret_source"]];

/** Shown for these trackers, and for those that a plugin adds. */
const of = (...providers) => ({ provider }) => providers.includes(provider) || !(provider in PROVIDERS);
const pulling = ({ provider }) => provider !== "generic";

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
    const names = { ...PROVIDERS, ...(Object.hasOwn(PROVIDERS, settings.provider) ? {} : { [settings.provider]: settings.provider }) };
    return [
      { name: "provider", label: "Tracker", type: "select", options: Object.entries(names), half: true },
      { name: "endpoint_url", label: "Address", max: 2000, half: true, placeholder: "https://…",
        hint: "Empty: the tracker's public one, where it has one. Jira: https://yours.atlassian.net" },
      { name: "project", label: "Project", max: 2000, half: true, when: of("linear", "github", "gitlab", "jira"),
        hint: "GitHub: owner/repository. GitLab: group/project. Jira: the project's key." },
      { name: "team_key", label: "Team key", max: 2000, half: true, placeholder: "ENG", when: of("linear") },
      { name: "account", label: "E-mail of the key's owner", max: 2000, half: true, when: of("jira") },
      ...SECRETS.map((one) => secret(settings, one)),
      { name: "labels", label: "Only items with these labels, one a line", type: "list", half: true, when: pulling },
      { name: "assignees", label: "Only items of these assignees, one a line", type: "list", half: true, when: pulling },
      { name: "assigned_to_me", label: "Only items assigned to the key's owner", type: "check" },
      { name: "status_pull", label: "Issues take the status of their items", type: "check" },
      { name: "status_writeback", label: "Items take the status of their issues", type: "check" },
      { name: "status_writeback_comment", label: "With a comment in the item", type: "check", when: ({ status_writeback: on }) => on },
      { name: "enabled", label: "On", type: "check" },
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
    text: "The tracker is switched off.",
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
