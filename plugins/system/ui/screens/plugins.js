// Plugins: on or off in the selected application, what each adds, and what is wrong with it.

/** Where panels without a title of their own show. */
const PLACES = {
  "issue.side": "beside an issue", "issue.main": "on the page of an issue", "issues.columns": "a column of the issue list",
  "issues.none": "when no issue matches", "chart.marks": "marks on charts", "overview": "on the overview",
  "settings": "on the maintenance page", "setup": "on the page that adds logs",
};

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, keyed, api } = ui;

  async function toggle(plugin) {
    const enabled = !plugin.enabled;
    try {
      await api.post("plugins", { id: plugin.id, enabled });
      ui.toast(`${plugin.name} ${enabled ? "enabled" : "disabled"}.`, { undo: () => toggle({ ...plugin, enabled }) });
    } catch (error) {
      ui.toast(error.message, { error: true });
    }
    await ui.restart();
  }

  const line = (name, items) => items.length > 0 && html`<div><dt>${name}</dt><dd>${items.join(", ")}</dd></div>`;

  function adds(plugin) {
    const { pages, panels, actions } = plugin.added;
    if (![pages, panels, actions, plugin.endpoints].some(({ length }) => length)) return null;
    return html`<dl class="adds">${line("Pages", pages)}${line("Panels", panels.map((name) => PLACES[name] ?? name))}${line("Actions", actions)}</dl>
      ${plugin.endpoints.length > 0 && html`<details><summary>${ui.plural(plugin.endpoints.length, "endpoint")}</summary><p class="mono">${plugin.endpoints.join(", ")}</p></details>`}`;
  }

  const trouble = ({ status, last_error: error }) => (status === "failed" || error) && html`<p class="problem">
    ${status === "failed" ? "Could not be loaded" : `${error.hook} failed`}${error && html`: <span class="mono">${error.message}</span>
      <ui-ago at=${error.at}></ui-ago>`}</p>`;

  const row = (plugin) => html`<li class="card plugin">
    <div class="head"><h2>${plugin.name}</h2>
      ${plugin.status === "failed"
        ? html`<span class="state" data-state="bad">Failed</span>`
        : html`<label class="check"><input type="checkbox" role="switch" aria-label=${`${plugin.name} is on`} .checked=${plugin.enabled}
            @click=${(event) => { event.preventDefault(); void toggle(plugin); }} /> ${plugin.enabled ? "On" : "Off"}</label>`}</div>
    <p>${plugin.description}</p>
    ${trouble(plugin)} ${adds(plugin)}
    <p class="faint">${plugin.category} · ${plugin.version} · ${plugin.source}</p>
  </li>`;

  return {
    async load(_query, { signal }) {
      const { data } = await api("plugins", {}, { signal });
      return { data: await Promise.all(data.map(async (plugin) => ({ ...plugin, added: await ui.added(plugin.id) }))) };
    },
    render: ({ data }) => html`<div class="head"><h1 tabindex="-1">Plugins</h1>
        <p class="faint">Enabled or disabled for ${ui.application()?.name ?? "this application"} only. What a plugin has stored is kept while it is disabled.</p></div>
      ${data.length ? html`<ul class="cards">${keyed(data, ({ id }) => id, row)}</ul>` : html`<p class="card notice">No plugin is installed.</p>`}`,
  };
};
