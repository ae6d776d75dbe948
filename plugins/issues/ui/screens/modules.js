// Modules: the parts of an application that issues belong to.

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  /** @type {import("../../../../schemas/dashboard.d.ts").Field[]} */
  const FIELDS = [
    { name: "name", label: "Name", required: true, max: 100 },
    { name: "slug", label: "Short name", max: 64, half: true, placeholder: "made from the name", hint: "The name of its folder below the drop folder, and the word to search for." },
    { name: "color", label: "Colour", type: "color", half: true, value: "#6366f1" },
  ];

  const given = ({ slug, ...rest }) => ({ ...rest, ...(slug.trim() && { slug }) });

  async function add() {
    const made = await ui.ask({ title: "New module", action: "Create", fields: FIELDS, save: (values) => api.post("modules", given(values)) });
    if (!made) return;
    ui.toast(`${made.name} was created.`);
    await ui.reload();
  }

  async function edit(module) {
    const saved = await ui.ask({ title: `Edit ${module.name}`, fields: FIELDS, values: module,
      save: (values) => api.patch("modules", { id: module.id, ...given(values) }) });
    if (saved) await ui.reload();
  }

  async function remove(module, modules) {
    const others = modules.filter(({ id }) => id !== module.id).map(({ id, name }) => [String(id), name]);
    const gone = await ui.ask({
      title: `Delete ${module.name}`,
      text: "Its issues, logs and connectors move to the module that you choose; identical issues are merged.",
      action: "Delete the module",
      danger: true,
      fields: [{ name: "move_to", label: "Move them to", type: "select", options: [["", "No module"], ...others], none: true,
        read: (text) => (text === "" ? "" : Number(text)) }],
      save: ({ move_to: target }) => api.delete("modules", { id: module.id, move_to: target }),
    });
    if (gone) await ui.reload();
  }

  const columns = (modules) => [
    { name: "name", label: "Module", sort: true, view: ({ name, color }) => html`<span class="chip" vars=${{ "--tag": color }}>${name}</span>` },
    { name: "slug", label: "Short name", sort: true, view: ({ slug }) => html`<code>${slug}</code>` },
    { name: "issue_count", label: "Issues", number: true, sort: true,
      view: ({ slug, issue_count: count }) => html`<a href=${ui.link({ module: slug, status: "all" })}>${ui.number(count)}</a>` },
    { name: "updated_at", label: "Changed", sort: true, view: ({ updated_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "actions", label: "", view: (module) => html`<button class="button" type="button" aria-label=${`Edit ${module.name}`} @click=${() => edit(module)}>Edit</button>
      <button class="button button-plain" type="button" aria-label=${`Delete ${module.name}`} @click=${() => remove(module, modules)}><ui-icon name="close"></ui-icon></button>` },
  ];

  return {
    load: (_query, { signal }) => api("modules", {}, { signal }),
    render: ({ data }) => html`<div class="head"><h1 tabindex="-1">Modules</h1>
        <button class="button button-main" @click=${add}>New module</button></div>
      <section class="card">${ui.table(columns(data), data, { id: "modules", label: "Modules",
        empty: "No modules yet. A module is a part of an application: its issues never mix with those of another, and the list can be filtered by it. Each folder below the drop folder becomes one by itself." })}</section>`,
  };
};
