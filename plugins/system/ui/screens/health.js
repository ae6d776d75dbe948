// Health: the checks of the readiness probe in words.

const CHECKS = {
  python: ["Python", "A version that the service runs on", "Install Python 3.11 or newer."],
  driver: ["Database driver", "Can be imported", "Install the driver of the configured database."],
  database_version: ["Database version", "New enough", "Upgrade the database."],
  database: ["Database", "Can be read and written", "Look at the database server, its disk and its rights."],
  schema: ["Schema", "Every application's database is at the newest step", "Run snaglist db upgrade."],
  applications: ["Applications", "Registered, and their folders are writable", "Look at the rights of the data directory."],
  jobs: ["Jobs", "A worker is alive and nothing waits too long", "Start a worker: snaglist serve, or snaglist jobs work."],
  disk: ["Disk", "The data directory is writable and has room", "Free some space."],
};
const WORDS = {
  service: "snaglist", python: "Python", database_driver: "Database", database_version: "Database version", database_minimum: "Needs at least",
};
const SECONDS = 10;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;

  const row = ([name, good]) => {
    const [title, meaning, fix] = Object.hasOwn(CHECKS, name) ? CHECKS[name] : [name, "", ""];
    return html`<tr><td><span class="state" data-state=${good ? "good" : "bad"}>${good ? "OK" : "Failed"}</span></td>
      <th scope="row">${title}</th><td class="wrap">${good ? meaning : html`<b>${fix}</b>`}</td></tr>`;
  };

  const pair = ([name, text]) => html`<div><dt>${WORDS[name] ?? name}</dt><dd class="mono">${text}</dd></div>`;

  return {
    load: (_query, { signal }) => api("health", {}, { signal }),
    open() {
      const timer = setInterval(() => document.hidden || void ui.reload(), SECONDS * 1000);
      return () => clearInterval(timer);
    },
    render: ({ status, checks, config_warnings: warnings, versions }) => html`<div class="head"><h1 tabindex="-1">Health</h1>
        <span class="state" data-state=${status === "ok" ? "good" : "bad"} role="status">${status === "ok" ? "Everything works" : "Something is wrong"}</span></div>
      <div class="stack">
        <section class="card scroll"><table class="table" aria-label="Checks"><tbody>${Object.entries(checks).map(row)}</tbody></table></section>
        ${warnings.length > 0 && html`<section class="card"><h2>Configuration</h2>
          <ul class="stack">${warnings.map((text) => html`<li class="problem">${text}</li>`)}</ul></section>`}
        <section class="card"><h2>Versions</h2><dl class="pairs pairs-left">${Object.entries(versions).map(pair)}</dl></section>
      </div>`,
  };
};
