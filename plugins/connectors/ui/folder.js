// The quickest way to the first log: a folder on the machine of the service.

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { api } = ui;

  return ui.form({
    label: "Read a folder",
    action: "Read the folder",
    keep: true,
    fields: [
      { name: "directory", label: "Folder on this server", required: true, max: 4096, value: "/var/log" },
      { name: "interval_minutes", label: "Check for new lines every (minutes)", type: "number", min: 0, max: 10_080, value: 5, hint: "0: only when you ask." },
    ],
    async save({ directory, interval_minutes: minutes }) {
      const made = await api.post("connectors", { name: directory.slice(-100), type: "local", interval_minutes: minutes, config: { directory } })
        .catch((error) => Promise.reject(Object.assign(error, { message: error.message.replace(/^config\./, "") })));
      const { job_id: id } = await api.post("connectors-sync", { id: made.id });
      ui.follow(id, { label: `Reading ${directory}`, done: () => ui.reload() });
      ui.go({ view: "connector", id: made.id });
    },
  });
};
