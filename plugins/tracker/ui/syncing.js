// A job of the tracker: queued, watched until it ends, and told.

const MILLISECONDS = 400;
const UNFINISHED = ["queued", "running"];
/** The job that this page waits for: one for the issue, the list and the page of the tracker. */
let job = null;
const pause = () => new Promise((resolve) => setTimeout(resolve, MILLISECONDS));

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, api } = ui;

  function told({ action, results, pulled, created, updated }) {
    if (action === "pull") return `${ui.plural(pulled, "item")} read: ${created} new, ${updated} changed.`;
    const failed = results.filter(({ ok }) => !ok);
    if (failed.length) return `${results.length - failed.length} of ${results.length} created. Issue ${failed[0].id}: ${failed[0].error}`;
    return results.length === 1 ? `Linked to ${results[0].external_id}.` : `${ui.plural(results.length, "issue")} linked.`;
  }

  async function watch(id) {
    for (;;) {
      const { data } = await api("jobs", { id });
      if (!UNFINISHED.includes(data.status)) return data;
      job = data;
      ui.refresh();
      await pause();
    }
  }

  async function run(body) {
    try {
      const { job_id: id } = await api.post("tracker-sync", body);
      job = { id, progress: {} };
      ui.refresh();
      const ended = await watch(id);
      const text = ended.result ? told(ended.result) : (ended.error ?? "The job was cancelled.");
      ui.toast(text, { error: !ended.result?.ok });
    } catch (error) {
      ui.toast(error.message, { error: true });
    } finally {
      job = null;
      await ui.reload();
    }
  }

  const progress = (elsewhere) => (job || elsewhere) && html`<p><label>Syncing
    ${job?.progress.total ? html`<progress max=${job.progress.total} value=${job.progress.done}></progress>` : html`<progress></progress>`}
    ${job?.progress.text ?? ""}</label></p>`;

  return { run, progress, busy: () => job !== null };
};
