// The form of a connector: what its type declares, and what all have. Secrets are write-only: an empty field keeps what is stored.

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  /** What is known of a stored secret: that it is there, or the names of its parts. */
  function kept(connector, name) {
    const known = connector?.secrets[name];
    return Array.isArray(known) ? known.length > 0 && `stored: ${known.join(", ")}` : known && "stored";
  }

  function fields(modules, types, connector) {
    const shown = types.filter(({ name }) => !connector || name === connector.type);
    const own = ({ name, schema }) => ui.fieldsOf(schema, {
      prefix: "config.", type: name, values: connector?.config, stored: (field) => kept(connector, field), when: ({ type }) => type === name,
    });
    return [
      { name: "name", label: "Name", required: true, max: 100, half: true },
      { name: "type", label: "Where the logs are", type: "select", options: shown.map(({ name, title }) => [name, title]), half: true, fixed: Boolean(connector) },
      ...shown.flatMap(own),
      { name: "module_id", label: "Module", type: "select", options: [["", "None"], ...modules.map(({ id, name }) => [String(id), name])], none: true, half: true,
        read: (text) => (text === "" ? "" : Number(text)) },
      { name: "timezone", label: "Default time zone", max: 64, half: true, placeholder: "as the application" },
      { name: "interval_minutes", label: "Check for new lines every (minutes)", type: "number", min: 0, max: 10_080, value: 5, half: true, hint: "0: only when you ask." },
      { name: "enabled", label: "Enabled", type: "check", value: true, half: true },
    ];
  }

  const add = ({ modules, types }) => ui.ask({
    title: "New connector", action: "Create", fields: fields(modules, types),
    save: (sent) => ui.api.post("connectors", sent),
  });

  const edit = (connector, { modules, types }) => ui.ask({
    title: `Edit ${connector.name}`,
    text: connector.last_error && html`<span class="problem">${connector.last_error}</span>`,
    fields: fields(modules, types, connector),
    values: connector,
    save: (sent) => ui.api.patch("connectors", { id: connector.id, ...sent }),
  });

  return { add, edit };
};
