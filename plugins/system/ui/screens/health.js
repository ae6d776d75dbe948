// Health: problems with the next step, figures, and the checks of the readiness probe in words.

const CHECKS = {
  python: ["Python", "Supported version"],
  driver: ["Database driver", "Can be imported"],
  database_version: ["Database version", "New enough"],
  database: ["Database", "Can be read and written"],
  databases: ["Databases", "All application databases are available"],
  schema: ["Schema", "Every application's database is at the newest step"],
  applications: ["Applications", "Registered, and their folders are writable"],
  jobs: ["Jobs", "A worker is alive and no job is stuck"],
  disk: ["Disk", "The data directory is writable and has room"],
};
const WORDS = {
  service: "snaglist", python: "Python", database_driver: "Database", database_version: "Database version", database_minimum: "Needs at least",
};
const SECONDS = 10;

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  let current = null;

  const check = ([name, good]) => {
    const [title, meaning] = Object.hasOwn(CHECKS, name) ? CHECKS[name] : [name, ""];
    return html`<tr><td><span class="state" data-state=${good ? "good" : "bad"}>${good ? "OK" : "Failed"}</span></td>
      <th scope="row">${title}</th><td class="wrap">${meaning}</td></tr>`;
  };

  const problem = ({ text, step, view }) => html`<li class="unwell"><span class="problem">${text}</span>
    ${view ? html`<a href=${ui.link(view)}>${step}</a>` : html`<span>${step}</span>`}</li>`;

  const problems = (found) => found.length > 0
    ? html`<section class="card"><h2>Problems</h2><ul class="unwells">${found.map(problem)}</ul></section>`
    : html`<section class="card well"><span class="state" data-state="good"><ui-icon name="check"></ui-icon></span><div><h2>All systems OK</h2>
        <p class="faint">No check failed, no job failed in the last 24 hours, and everything that was found could be read.</p></div></section>`;

  const SHOWN = {
    number: (value) => ui.number(value),
    bytes: (value) => ui.bytes(value),
    time: (value) => html`<ui-ago at=${value}></ui-ago>`,
    hours: (value) => html`<ui-bars class="hours" values=${value.join(",")} label="Events per hour"></ui-bars>`,
    text: (value) => value,
  };

  const figure = ({ label, value, kind, view }) => {
    const shown = SHOWN[kind](value);
    if (kind === "hours") return html`<div class="wide"><dt class="off-screen">${label}</dt><dd>${shown}</dd></div>`;
    return html`<div><dt>${view ? html`<a href=${ui.link(view)}>${label}</a>` : label}</dt><dd>${shown}</dd></div>`;
  };

  const sections = (figures) => [...Map.groupBy(figures, ({ section }) => section)].map(([title, found]) => html`<section class="card"><h2>${title}</h2>
    <dl class="pairs">${found.map(figure)}</dl></section>`);

  const pair = ([name, text]) => html`<div><dt>${WORDS[name] ?? name}</dt><dd class="mono">${text}</dd></div>`;

  return {
    async load(_query, { signal }) {
      const nothing = { problems: [], figures: [], hidden: true }; // not allowed to see more than the probe does
      const [health, details] = await Promise.all([
        api("health", {}, { signal }), api("health-details", {}, { signal }).catch((error) => (error.status === 403 ? nothing : Promise.reject(error))),
      ]);
      current = { ...health, ...details };
      return current;
    },
    open() {
      const watched = current.hidden ? ["health"] : ["health", "health-details"];
      const stops = watched.map((name) => ui.watch(name, {}, (answer) => {
        Object.assign(current, answer);
        ui.refresh();
      }, SECONDS));
      return () => stops.forEach((stop) => stop());
    },
    render: ({ status, checks, versions, problems: found, figures }) => html`<div class="head"><h1 tabindex="-1">Health</h1>
        <span class="state" data-state="bad" role="status" ?hidden=${status === "ok" && !found.length}>${status !== "ok" ? "A check failed" : ui.plural(found.length, "problem")}</span></div>
      <div class="stack">${problems(found)}
        <div class="boxes">${sections(figures)}
          <section class="card"><h2>Versions</h2><dl class="pairs">${Object.entries(versions).map(pair)}</dl></section></div>
        <section class="card scroll"><h2>Checks</h2><table class="table" aria-label="Checks"><tbody>${Object.entries(checks).map(check)}</tbody></table></section>
      </div>`,
  };
};
