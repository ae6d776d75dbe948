// Deploys: a list with the issues of each release, and a form for a new one.

export default (ui) => {
  const { html, api } = ui;

  async function add(event) {
    event.preventDefault();
    const form = event.target;
    const given = Object.fromEntries([...new FormData(form)].filter(([, text]) => text.trim() !== ""));
    if (given.deployed_at) given.deployed_at = ui.stamp(new Date(given.deployed_at));
    const made = await ui.act(() => api.post("deploys", given), ({ version, environment }) => `${version} is deployed to ${environment}.`);
    if (made) form.reset();
  }

  async function remove({ id, version, environment }) {
    const gone = await ui.confirm({
      title: `Delete the deploy of ${version} to ${environment}`,
      text: "Its issues and source maps stay.",
      action: "Delete the deploy",
      run: () => api.delete("deploys", { id }),
    });
    if (gone) await ui.reload();
  }

  const seen = ({ version, environment, issue_count: count }) => count === 0
    ? "none"
    : html`<a href=${ui.link({ view: "issues", release: version, environment })}>${ui.plural(count, "issue")}</a>`;

  const columns = [
    { name: "version", label: "Version", view: ({ version }) => html`<code>${version}</code>` },
    { name: "environment", label: "Environment" },
    { name: "deployed_at", label: "Deployed", view: ({ deployed_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "issue_count", label: "Issues", view: seen },
    { name: "new_issue_count", label: "New in it", number: true },
    { name: "ref", label: "Commit", view: ({ ref }) => ref && html`<code>${ref}</code>` },
    { name: "notes", label: "Notes", wrap: true },
    { name: "actions", label: "", view: (deploy) => html`<button class="button button-plain" type="button"
      aria-label=${`Delete the deploy of ${deploy.version} to ${deploy.environment}`} @click=${() => remove(deploy)}><ui-icon name="close"></ui-icon></button>` },
  ];

  const form = () => html`<form class="toolbar" aria-label="New deploy" @submit=${add}>
    <label>Version <input name="version" required maxlength="120" autocomplete="off" /></label>
    <label>Environment <input name="environment" maxlength="100" placeholder="production" autocomplete="off" /></label>
    <label>Commit, tag or branch <input name="ref" maxlength="200" autocomplete="off" /></label>
    <label>Notes <input name="notes" maxlength="10000" autocomplete="off" /></label>
    <label>Deployed at <input name="deployed_at" type="datetime-local" step="1" /></label>
    <button class="button">Add</button></form>`;

  const command = () => `snaglist releases deploy v1.0.0 --ref "$COMMIT" --url ${location.origin}${location.pathname}`;

  return ({ data, meta }) => html`<section class="card block" aria-labelledby="deploys"><h2 id="deploys">Deploys</h2>
    ${data.length > 0
      ? html`${ui.table(columns, data, { label: "Deploys" })} ${ui.pager(meta, "deploy")}`
      : html`<p>No deploy is known yet. A pipeline tells of one with:</p>${ui.snippet(command(), "Command")}`}
    ${form()}</section>`;
};
