// Deploys: a list with the issues of each release, and a form for a new one.

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  /** @returns {import("../../../../schemas/dashboard.d.ts").Field[]} */
  const fields = () => [
    { name: "version", label: "Version", required: true, max: 120, half: true },
    { name: "environment", label: "Environment", max: 100, placeholder: "production", half: true },
    { name: "ref", label: "Commit, tag or branch", max: 200, half: true },
    { name: "deployed_at", label: "Deployed at", half: true, max: 16, placeholder: "2026-11-28 17:30", hint: `${ui.zone()}; leave empty to use the current time` },
    { name: "notes", label: "Notes", max: 10_000, rows: 2 },
  ];

  function save(values) {
    const given = Object.fromEntries(Object.entries(values).filter(([, text]) => text !== ""));
    if (given.deployed_at) {
      const [, date, time] = /^\s*(\d{4}-\d\d-\d\d) +(\d?\d:\d\d)\s*$/.exec(given.deployed_at) ?? [];
      const at = date && ui.fromClock(date, time);
      const { date: day, time: minute } = at ? ui.toClock(at) : {};
      if (!at) throw new Error("deployed_at: Write it as 2026-11-28 17:30.");
      // By the clock 31 February is another day, and an hour that it skips another one.
      if (day !== date || minute !== time.padStart(5, "0")) throw new Error("deployed_at: There is no such time.");
      given.deployed_at = at;
    }
    return api.post("deploys", given);
  }

  async function add() {
    const made = await ui.ask({ title: "New deploy", action: "Add", fields: fields(), save });
    if (!made) return;
    ui.toast(`The deploy of ${made.version} to ${made.environment} was added.`);
    await ui.reload();
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
    : html`<a href=${ui.link({ view: "issues", release: version, environment, status: "all" })}>${ui.plural(count, "issue")}</a>`;

  const columns = [
    { name: "version", label: "Version", view: ({ version }) => html`<code>${version}</code>` },
    { name: "environment", label: "Environment" },
    { name: "deployed_at", label: "Deployed", view: ({ deployed_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "since", label: "Since then", view: ({ deployed_at: at }) => html`<a href=${ui.link({ view: "overview", since: at })}>What is new</a>` },
    { name: "issue_count", label: "Issues", view: seen },
    { name: "new_issue_count", label: "New issues", number: true },
    { name: "ref", label: "Commit", view: ({ ref }) => ref && html`<code>${ref}</code>` },
    { name: "notes", label: "Notes", wrap: true },
    { name: "actions", label: "", view: (deploy) => html`<button class="button button-plain" type="button"
      aria-label=${`Delete the deploy of ${deploy.version} to ${deploy.environment}`} @click=${() => remove(deploy)}><ui-icon name="close"></ui-icon></button>` },
  ];

  const command = () => `snaglist releases deploy v1.0.0 --ref "$COMMIT" --url ${location.origin}${location.pathname}`;

  return ({ data, meta }) => html`<section class="card block" aria-labelledby="deploys">
    <div class="head"><h2 id="deploys">Deploys</h2> <button class="button button-main" type="button" @click=${add}>New deploy</button></div>
    ${data.length > 0
      ? html`${ui.table(columns, data, { label: "Deploys" })} ${ui.pager(meta, "deploy")}`
      : html`<p>No deploys yet. Report one from your pipeline with:</p>${ui.snippet(command(), "Command")}`}</section>`;
};
