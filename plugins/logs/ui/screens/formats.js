// Formats: those of one's own, in the order in which they are tried.

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;

  const toggle = ({ id, name, enabled }) => ui.act(() => api.post("log-formats", { id, enabled: !enabled }), `${name} ${enabled ? "disabled" : "enabled"}.`);

  async function remove({ id, name }) {
    const gone = await ui.confirm({
      title: `Delete the format ${name}?`,
      text: "Logs that it read are read by the other formats from then on.",
      action: "Delete",
      run: () => api.delete("log-formats", { id }),
    });
    if (gone) await ui.reload();
  }

  const columns = [
    { name: "name", label: "Format", view: ({ id, name }) => html`<a href=${ui.link({ view: "format", id })}>${name}</a>` },
    { name: "pattern", label: "Pattern", wrap: true, view: ({ pattern }) => html`<code>${pattern}</code>` },
    { name: "zone", label: "Time zone", view: ({ zone }) => zone ?? "" },
    { name: "enabled", label: "Status", view: ({ enabled }) => html`<span class="state" data-state=${enabled ? "good" : "off"}>${enabled ? "on" : "off"}</span>` },
    { name: "updated_at", label: "Changed", view: ({ updated_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "actions", label: "", view: (format) => ui.menu(`Actions of ${format.name}`, [
      { label: format.enabled ? "Disable" : "Enable", run: () => toggle(format) },
      { label: "Delete …", run: () => remove(format), danger: true },
    ]) },
  ];

  return {
    load: (_query, { signal }) => api("log-formats", {}, { signal }),
    keys: [{ key: "u", label: "Back to all logs", run: () => ui.go({ view: "sources" }) }],
    render: ({ data }) => html`<p class="crumbs"><a href=${ui.link({ view: "sources" })}>Logs</a></p>
      <div class="head"><h1 tabindex="-1">Formats</h1><a class="button button-main" href=${ui.link({ view: "format" })}>New format</a></div>
      <p>For logs that are not read well: a format says how their lines begin. Formats are tried before the built-in ones, from the top of the list.
        They apply to what is read from now on; <a href=${ui.link({ view: "maintenance" })}>reading again</a> applies them to the rest.</p>
      <section class="card">${ui.table(columns, data, { label: "Formats", empty: "No format yet. Most logs are read without one." })}</section>`,
  };
};
