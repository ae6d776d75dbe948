// Jobs: what runs, what ran, what failed.

const STATES = { queued: "busy", running: "busy", succeeded: "good", failed: "bad", cancelled: "off" };
const SECONDS = 2;
/** Kinds of jobs that pages call otherwise. */
const NAMES = { reindex: "Read again" };

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  let current = null;

  const kind = (job) => NAMES[job.kind] ?? ui.sentence(job.kind);
  const act = (job, action, said) => ui.act(async () => {
    const answer = await api.post("jobs", { id: job.id, action });
    if (action === "retry") ui.follow(answer.id);
  }, said);

  const exact = (stamp) => stamp && ui.clock(stamp, "exact");
  const more = (job) => ui.dialog(`${kind(job)}, job ${job.id}`, (close) => html`
    ${job.error && html`<p class="problem">${job.error}</p>`}
    <dl class="pairs">
      ${[["Status", job.status], ["Started by", job.created_by ?? "the service"], ["Attempts", `${job.attempts} of ${job.max_attempts}`],
        ["Queued", exact(job.created_at)], ["Due", exact(job.run_at)], ["Started", exact(job.started_at)], ["Last sign of life", exact(job.heartbeat_at)], ["Finished", exact(job.finished_at)]]
        .filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${job.result && html`<h3>Result</h3><pre tabindex="0" aria-label="Result">${JSON.stringify(job.result, null, 2)}</pre>`}
    <div class="actions"><button class="button" @click=${close}>Close</button></div>`, { wide: true });

  const running = ({ status }) => status === "queued" || status === "running";
  const took = ({ started_at: from, finished_at: to }) => from && to ? Math.round((+ui.moment(to) - +ui.moment(from)) / 1000) : null;

  const columns = [
    { name: "id", label: "Job", number: true, view: (job) => html`<button class="button button-plain" type="button" aria-label=${`Show job ${job.id}`} @click=${() => more(job)}>${job.id}</button>` },
    { name: "kind", label: "Task", view: kind },
    { name: "status", label: "Status", view: ({ status }) => html`<span class="state" data-state=${STATES[status]}>${ui.sentence(status)}</span>` },
    { name: "progress", label: "Progress", wrap: true, view: (job) => job.error ?? (job.status === "running" ? ui.progress(job.progress, kind(job))
      : html`<span class="faint">${ui.plural(job.progress.done, job.progress.unit.replace(/s$/, ""))}</span>`) },
    { name: "created_by", label: "Started by", view: ({ created_by: by }) => by ?? html`<span class="faint">snaglist</span>` },
    { name: "created_at", label: "Queued", view: ({ created_at: at }) => html`<ui-ago at=${at}></ui-ago>` },
    { name: "took", label: "Took", number: true, view: (job) => (took(job) === null ? "" : `${ui.number(took(job))} s`) },
    { name: "actions", label: "", view: (job) => running(job)
      ? html`<button class="button" type="button" aria-label=${`Cancel job ${job.id} here`} @click=${() => act(job, "cancel", "The job will stop.")}>Cancel</button>`
      : ["failed", "cancelled"].includes(job.status) && html`<button class="button" type="button" aria-label=${`Retry job ${job.id}`} @click=${() => act(job, "retry", "The job was queued again.")}>Retry</button>` },
  ];

  const tab = (query, status, label) => html`<a class="tab" href=${ui.link({ view: "jobs", status })}
    aria-current=${(query.status ?? null) === status ? "true" : null}>${label}</a>`;

  /** @param {import("../../../../schemas/dashboard.d.ts").Address} query */
  const asked = ({ status, kind: one, page }) => ({ status, kind: one, page });

  return {
    load: (query, { signal }) => api("jobs", asked(query), { signal }),
    open: (query) => ui.watch("jobs", asked(query), (answer) => {
      Object.assign(current, answer);
      ui.refresh();
    }, SECONDS),
    render(data, query) {
      current = data;
      return html`<h1 tabindex="-1">Jobs</h1>
        <nav class="tabs" aria-label="Status">${tab(query, null, "All")}${tab(query, "queued,running", "Active")}
          ${tab(query, "failed", "Failed")}${tab(query, "cancelled", "Cancelled")}${tab(query, "succeeded", "Succeeded")}</nav>
        <section class="card">${ui.table(columns, data.data, { label: "Jobs", empty: query.status ? "No jobs with this status." : "No jobs yet." })}</section>
        ${ui.pager(data.meta, "job")}`;
    },
  };
};
