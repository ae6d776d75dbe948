// Deleting the events of a day, of a source or of a user: what would go, the typed confirmation, and the job when it is much.

const SHOWN = 5; // issues and files of a preview

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
      ${what} will be permanently deleted. The issues, their counts and the log files stay; these lines are not read again.`,
    action: "Delete the events",
    typed: "DELETE LOGS",
    run: (confirmation) => api.post("delete-logs", { ...scope, confirmation }),
  });
  if (!answer) return;
  if (answer.job_id) ui.follow(answer.job_id, { label: "Deleting events", done: () => ui.reload() });
  else ui.toast(`${ui.plural(answer.deleted.occurrences, "event")} deleted.`);
  await ui.reload();
};

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export const forgetting = (ui) => async ({ user }) => {
  const { html, api } = ui;
  let found;
  try {
    found = await api("user-events-preview", { user });
  } catch (error) {
    ui.toast(error.message, { error: true });
    return;
  }
  if (!found.events) {
    ui.toast(`No stored event names the user ${user}. It must be written exactly as it appears in events.`);
    return;
  }
  const list = (items, more, view) => html`<ul>${items.slice(0, SHOWN).map((item) => html`<li>${view(item)}</li>`)}
    ${items.length + more > SHOWN ? html`<li>and ${ui.number(items.length + more - SHOWN)} more</li>` : null}</ul>`;
  const answer = await ui.confirm({
    title: "Forget a user",
    text: html`<b>${ui.plural(found.events, "event")}</b> of ${user} in ${ui.plural(found.issues, "issue")}, from ${ui.clock(found.first_seen, "exact")} to
      ${ui.clock(found.last_seen, "exact")}, will be permanently deleted, with everything that was kept from them. The issues and their counts stay.
      ${list(found.by_issue, found.issues_left_out, ({ title, events }) => html`${title} (${ui.number(events)})`)}
      ${found.files.length ? html`These log files still contain the lines. The files are not changed, and the lines are not read again:
        ${list(found.files, found.files_left_out, ({ path, events }) => html`<code>${path}</code> (${ui.number(events)})`)}` : null}`,
    action: "Delete the events",
    typed: "FORGET USER",
    run: (confirmation) => api.post("forget-user", { user, confirmation }),
  });
  if (!answer) return;
  ui.follow(answer.job_id, { label: "Forgetting a user", done: () => ui.reload() });
};
