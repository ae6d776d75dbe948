// Maintenance: what is kept of logs, reading them again, deleting, and the archive.

import deleting, { forgetting } from "../deleting.js";
import importing from "../importing.js";

/** @type {[string, string][]} */
const UNLEVELLED = [["failures", "Keep what looks like a failure"], ["all", "Keep all"], ["none", "Keep none"]];

/** @type {(ui: import("../../../../schemas/dashboard.d.ts").Ui) => import("../../../../schemas/dashboard.d.ts").Screen} */
export default (ui) => {
  const { html, api } = ui;
  const remove = deleting(ui);
  const forget = forgetting(ui);
  const importNow = importing(ui);

  const zones = () => Intl.supportedValuesOf?.("timeZone") ?? [];

  const settingsForm = (settings) => ui.form({
    label: "What is kept",
    fields: [
      { name: "severities", label: "Levels to keep from log files", type: "checks",
        options: settings.available_severities.map((name) => [name, ui.level(name)]) },
      { name: "timezone", label: "Default time zone", half: true, max: 64, required: true, suggest: zones() },
      { name: "access_issue_min_status", label: "Create issues for requests with status … or higher", type: "number", min: 100, max: 600, required: true, half: true,
        hint: "500: server errors only; 600: never." },
      { name: "unlevelled", label: "Lines without a level", type: "select", options: UNLEVELLED,
        hint: "These lines have no level: their severity is guessed from the text." },
    ],
    values: { ...settings, severities: settings.ingested_severities },
    keep: true,
    async save(values) {
      await api.put("ingestion-settings", values);
      ui.toast("Saved. This applies to lines read from now on.");
      await ui.reload();
    },
  });

  const reindexForm = (modules) => ui.form({
    label: "Read again",
    action: "Read again",
    fields: [{ name: "module_id", label: "Which logs", type: "select", options: [["", "All"], ...modules.map(({ id, name }) => [String(id), `Module ${name}`])],
      none: true, read: (text) => (text === "" ? "" : Number(text)) }],
    keep: true,
    async save({ module_id: module }) {
      const { job_id: id } = await api.post("reindex", module ? { module_id: module } : {});
      ui.follow(id, { label: "Read again", done: again });
    },
  });

  function again({ result }) {
    if (result) ui.toast(`${ui.plural(result.files, "file")} read again, ${ui.plural(result.events, "event")}.`);
    void ui.reload();
  }

  const deleteForm = () => ui.form({
    label: "Delete events",
    action: "Preview deletion …",
    fields: [{ name: "date", label: "All events of one day (UTC)", type: "date", required: true }],
    keep: true,
    save: (scope) => remove(scope),
  });

  const forgetForm = () => ui.form({
    label: "Forget a user",
    action: "Preview their events …",
    fields: [{ name: "user", label: "User", max: 200, required: true,
      hint: "An id, a name or an address, exactly as it appears in events." }],
    keep: true,
    save: (whom) => forget(whom),
  });

  const prune = () => ui.confirm({
    title: "Remove old archived files",
    text: "Files that the rules no longer keep are deleted from the archive. Their issues and events stay, but their raw lines can no longer be shown.",
    action: "Remove the files",
    async run() {
      const { pruned } = await api.post("processed-retention");
      ui.toast(`${ui.plural(pruned.deleted, "file")} removed, ${ui.bytes(pruned.freed_bytes)} freed, ${ui.number(pruned.remaining)} left.`);
      await ui.reload();
    },
  });

  function archive({ policy, archived_files: files, archived_bytes: size }) {
    const { processed_max_age_days: days, processed_max_files: most } = policy;
    const rules = [days && `files older than ${ui.plural(days, "day")} are removed`, most && `at most ${ui.plural(most, "file")} are kept`].filter(Boolean);
    return html`<section class="card block"><h2>Archive</h2>
      <p>${ui.plural(files, "file")}, ${ui.bytes(size)}. ${rules.length ? `Rules: ${rules.join(", ")}.` : html`Nothing is removed. To change that, set
        <code>retention.processed_max_age_days</code> or <code>retention.processed_max_files</code>.`}</p>
      <p><button class="button" type="button" ?disabled=${!rules.length} @click=${prune}>Apply the rules now …</button></p></section>`;
  }

  async function load(_query, { signal }) {
    const [settings, retention, modules] = await Promise.all([
      api("ingestion-settings", {}, { signal }), api("processed-retention", {}, { signal }), api("modules", {}, { signal }),
    ]);
    return { settings, retention, forms: { settings: settingsForm(settings), reindex: reindexForm(modules.data), remove: deleteForm(), forget: forgetForm() } };
  }

  const render = ({ settings, retention, forms }) => html`<h1 tabindex="-1">Maintenance</h1>
    <div class="cards page-body">
      <section class="card block"><h2>What is kept</h2>${forms.settings}</section>
      <div class="stack">
        <section class="card block"><h2>Import</h2>
          <p>Files in <code>${ui.application()?.logs}</code> are read and moved to the archive.</p>
          <p><button class="button" type="button" @click=${importNow}>Read the drop folder now</button></p></section>
        <section class="card block"><h2>Read again</h2>
          <p>${settings.reindex_needed
            ? html`<b>Some logs were read with other settings or by an older version.</b> Reading them again brings them up to date.`
            : "Everything was read with the current settings."} Statuses, notes, tags and history stay.</p>
          ${forms.reindex}</section>
        <section class="card block"><h2>Delete events</h2>
          <p>Deletes the events of one day. To delete those of one log, use its menu in <a href=${ui.link({ view: "sources" })}>Logs</a>.</p>${forms.remove}</section>
        <section class="card block"><h2>Forget a user</h2>
          <p>Deletes all events of one person and everything that was kept from them. You see first what will be deleted.</p>${forms.forget}</section>
        ${archive(retention)}
      </div>
      ${ui.slot("settings", ui.application() ?? {})}
    </div>`;

  return { load, render };
};
