// Deleting the events of a day or of a source: what would go, the typed confirmation, and the job when it is much.

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => async (scope) => {
  const { html, api } = ui;
  let found;
  try {
    found = await api("log-deletion-preview", scope);
  } catch (error) {
    ui.toast(error.message, { error: true });
    return;
  }
  const what = found.scope.type === "date" ? `of ${found.scope.date} (UTC)` : `of ${found.scope.source.path}`;
  if (!found.occurrences) {
    ui.toast(`There are no stored events ${what}.`);
    return;
  }
  const answer = await ui.confirm({
    title: "Delete events",
    text: html`<b>${ui.plural(found.occurrences, "event")}</b> in ${ui.plural(found.issue_groups, "issue")} from ${ui.plural(found.sources, "source")}
      ${what} go for good. The issues, their counts and the log files stay; nothing reads these lines again.`,
    action: "Delete the events",
    typed: "DELETE LOGS",
    run: (confirmation) => api.post("delete-logs", { ...scope, confirmation }),
  });
  if (!answer) return;
  if (answer.job_id) ui.follow(answer.job_id, { label: "Deleting events", done: () => ui.reload() });
  else ui.toast(`${ui.plural(answer.deleted.occurrences, "event")} deleted.`);
  await ui.reload();
};
