// Connectors in the dashboard: a page, and the quickest way to the first log.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html, api } = ui;
  ui.page({ id: "connectors", title: "Connectors", icon: "link", nav: true, order: 300, group: "Set up", letter: "c",
    screen: () => import("./screens/connectors.js") });
  ui.page({ id: "connector", title: "Connector", parent: "connectors", screen: () => import("./screens/connector.js") });

  const folder = () => ui.form({
    label: "Read a folder",
    action: "Read it",
    fields: [
      { name: "directory", label: "Folder on the machine of this service", required: true, max: 4096, value: "/var/log" },
      { name: "interval_minutes", label: "Look again after minutes", type: "number", min: 0, max: 10_080, value: 5, hint: "0: only when asked." },
    ],
    async save({ directory, interval_minutes: minutes }) {
      const made = await api.post("connectors", { name: directory.slice(-100), type: "local", interval_minutes: minutes, config: { directory } })
        .catch((error) => Promise.reject(Object.assign(error, { message: error.message.replace(/^config\./, "") })));
      const { job_id: id } = await api.post("connectors-sync", { id: made.id });
      ui.follow(id, { label: `Reading ${directory}`, done: () => ui.reload() });
      ui.go({ view: "connector", id: made.id });
    },
  });

  ui.panel("setup", {
    id: "folder",
    title: "Read a folder",
    order: 10,
    load: folder,
    render: (_application, form) => html`<p>Its log files are read where they are, and read on as they grow.</p>${form}
      <p>Logs on another machine? <a href=${ui.link({ view: "connectors" })}>Connect by SSH or URL</a></p>`,
  });
};
