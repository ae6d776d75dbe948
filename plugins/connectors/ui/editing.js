// The form of a connector. Secrets are write-only: an empty field keeps what is stored.

const TYPES = [["local", "Folder on this machine"], ["ssh", "Another machine by SSH"], ["url", "Bucket or server by URL"]];
const SECRETS = [["private_key", "Private key"], ["password", "Password"], ["key_file", "Key file on the server"], ["use_agent", "SSH agent"]];

const of = (...types) => ({ type }) => types.includes(type);
const by = (way) => ({ type, way: chosen }) => type === "ssh" && chosen === way;

/** JSON text of an object, or the text itself, so that the service says what is wrong. */
function object(text) {
  if (!text.trim()) return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  const stored = (connector, name) => (connector?.secrets[name] === true ? "stored; leave empty to keep it" : null);

  function fields(modules, connector) {
    const secret = (name, label, more) => ({ name: `config.${name}`, label, secret: true, placeholder: stored(connector, name), ...more });
    return [
      { name: "name", label: "Name", required: true, max: 100, half: true },
      { name: "type", label: "Where the logs are", type: "select", options: TYPES, half: true, fixed: Boolean(connector) },
      { name: "config.directory", label: "Folder", required: true, max: 4096, when: of("local"), placeholder: "/var/log/myapp" },
      { name: "config.host", label: "Host", required: true, max: 255, half: true, when: of("ssh") },
      { name: "config.port", label: "Port", type: "number", min: 1, max: 65_535, value: 22, half: true, when: of("ssh") },
      { name: "config.user", label: "User", required: true, max: 64, half: true, when: of("ssh") },
      { name: "way", label: "Signs in with", type: "select", options: SECRETS, half: true, when: of("ssh") },
      secret("private_key", "Private key", { rows: 3, type: "text", when: by("private_key"), hint: "The text of the key file." }),
      secret("passphrase", "Passphrase of the key", { type: "password", when: by("private_key") }),
      secret("password", "Password", { type: "password", when: by("password") }),
      { name: "config.key_file", label: "Name of a file in the keys folder of the data directory", max: 255, when: by("key_file") },
      { name: "config.paths", label: "Paths, one a line", type: "list", required: true, when: of("ssh"), placeholder: "/var/log/app/*.log" },
      { name: "config.host_key", label: "Host key", when: of("ssh"), hint: "Empty: the first key seen is kept and from then on enforced." },
      { name: "config.url", label: "Address", required: true, max: 2000, when: of("url"), placeholder: "s3://bucket/logs/" },
      { name: "config.options", label: "Options (JSON)", rows: 2, type: "text", when: of("url"), placeholder: '{"endpoint_url": "https://…"}' },
      { name: "config.secret_options", label: "Secret options (JSON)", rows: 2, type: "text", when: of("url"), secret: true,
        placeholder: [connector?.secrets.secret_options ?? []].flat().length ? `stored: ${connector.secrets.secret_options.join(", ")}; leave empty to keep them` : '{"key": "…"}' },
      { name: "config.pattern", label: "Names of log files", max: 200, half: true, when: of("local", "url"), placeholder: "*.log and the like" },
      { name: "config.recursive", label: "With the folders in it", type: "check", value: true, half: true, when: of("local") },
      { name: "module_id", label: "Module", type: "select", options: [["", "None"], ...modules.map(({ id, name }) => [String(id), name])], none: true, half: true,
        read: (text) => (text === "" ? "" : Number(text)) },
      { name: "timezone", label: "Time zone of lines that name none", max: 64, half: true, placeholder: "as the application" },
      { name: "interval_minutes", label: "Look again after minutes", type: "number", min: 0, max: 10_080, value: 5, half: true, hint: "0: only when asked." },
      { name: "enabled", label: "On", type: "check", value: true, half: true },
    ];
  }

  function values(connector) {
    if (!connector) return {};
    const { config, secrets, ...rest } = connector;
    const way = SECRETS.find(([name]) => secrets[name] === true || config[name])?.[0];
    const flat = Object.fromEntries(Object.entries(config).map(([name, value]) => [`config.${name}`, value]));
    const options = config.options && Object.keys(config.options).length ? JSON.stringify(config.options) : "";
    return { ...rest, ...flat, "config.options": options, way };
  }

  /** What is sent: the other ways to sign in are cleared, the texts of options are objects. */
  function body({ way, ...sent }, type) {
    const config = { ...sent.config };
    if (type === "ssh") {
      config.use_agent = way === "use_agent";
      if (way !== "key_file") config.key_file = "";
      if (way !== "password") config.password = "";
      if (way !== "private_key") Object.assign(config, { private_key: "", passphrase: "" });
    }
    for (const name of ["options", "secret_options"]) if (typeof config[name] === "string") config[name] = object(config[name]);
    return { ...sent, config };
  }

  const add = (modules) => ui.ask({
    title: "New connector", action: "Create", fields: fields(modules),
    save: (sent) => ui.api.post("connectors", body(sent, sent.type)),
  });

  const edit = (connector, modules) => ui.ask({
    title: `Edit ${connector.name}`,
    text: connector.last_error && html`<span class="problem">${connector.last_error}</span>`,
    fields: fields(modules, connector),
    values: values(connector),
    save: (sent) => ui.api.patch("connectors", { id: connector.id, ...body(sent, connector.type) }),
  });

  return { add, edit };
};
