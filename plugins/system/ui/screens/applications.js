// Applications: each has issues, logs and settings of its own.

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const NAME = { name: "name", label: "Name", required: true, max: 100 };

  const add = async () => {
    const made = await ui.ask({
      title: "New application",
      action: "Create",
      fields: [
        NAME,
        { name: "id", label: "Id", max: 64, placeholder: "made from the name", hint: "Used in addresses and folder names; it cannot be changed later.",
          read: (text) => text.trim() },
      ],
      save: ({ name, id }) => api.post("applications", { name, ...(id && { id }) }),
    });
    if (!made) return;
    ui.toast(`${made.name} was created.`);
    await ui.restart();
  };

  const rename = async (application) => {
    const saved = await ui.ask({
      title: `Rename ${application.name}`,
      fields: [NAME],
      values: application,
      save: ({ name }) => api.patch("applications", { id: application.id, name }),
    });
    if (saved) await ui.restart();
  };

  const remove = async (application) => {
    const gone = await ui.confirm({
      title: `Delete ${application.name}`,
      text: html`All its issues, settings, archived logs and mirrors are deleted. Log files outside the data directory stay.
        <b>This cannot be undone.</b>`,
      action: "Delete the application",
      typed: `DELETE APPLICATION ${application.id}`,
      run: (confirmation) => api.delete("applications", { id: application.id, confirmation }),
    });
    if (!gone) return;
    ui.toast(`${application.name} was deleted.`);
    if (ui.query().app === application.id) ui.go({ app: null, view: "applications" });
    else await ui.restart();
  };

  const columns = (first) => [
    { name: "name", label: "Name", sort: true, view: ({ id, name }) => html`<a href=${ui.link({ app: id === first ? null : id })}>${name}</a>` },
    { name: "id", label: "Id", sort: true, view: ({ id }) => html`<code>${id}</code>` },
    { name: "database", label: "Database", view: ({ database }) => html`<code>${database}</code>` },
    { name: "logs", label: "Drop folder", view: ({ logs }) => html`<code>${logs}</code>` },
    { name: "created_at", label: "Created", sort: true, view: ({ created_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "actions", label: "", view: (one) => ui.menu(`Actions of ${one.name}`, [
      { label: "Rename …", run: () => rename(one) },
      { label: "Delete …", run: () => remove(one), danger: true },
    ]) },
  ];

  return {
    load: (_query, { signal }) => api("applications", {}, { signal }),
    render: ({ data }) => html`<div class="head"><h1 tabindex="-1">Applications</h1>
        <button class="button button-main" @click=${add}>New application</button></div>
      <section class="card">${ui.table(columns(data[0]?.id), data, { id: "applications", label: "Applications" })}</section>`,
  };
};
