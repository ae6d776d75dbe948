// Connectors in the dashboard: a page, and the quickest way to the first log.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html } = ui;
  ui.page({ id: "connectors", title: "Connectors", icon: "link", nav: true, order: 300, group: "Set up", letter: "c",
    screen: () => import("./screens/connectors.js") });
  ui.page({ id: "connector", title: "Connector", parent: "connectors", screen: () => import("./screens/connector.js") });

  ui.panel("setup", {
    id: "folder",
    title: "Read a folder of this server",
    order: 20,
    load: async () => (await import("./folder.js")).default(ui),
    render: (_application, form) => html`<p>Its log files stay where they are and are followed as they grow.</p>${form}
      <p>Logs on another machine? <a href=${ui.link({ view: "connectors" })}>Connect by SSH or URL</a></p>`,
  });
};
