// What happens to an issue while its page is open: events that came, what others did. Nothing typed is lost and the shown
// event stays.

/**
 * Watch the issue of a page: `shown()` gives the page's data, `again()` loads them anew. Returns the function that stops it.
 * @param {import("../../../../schemas/dashboard.d.ts").Ui} ui
 */
export default (ui, id, shown, again) => ui.watch("issue-state", { id }, (state) => {
  const { issue, status_history: history } = shown();
  const done = state.last_history_id !== (history[0]?.id ?? null) || state.status !== issue.status || state.id !== issue.id;
  if (done) return void again();
  const { count, users, last_seen, stored_occurrences } = state;
  if (count === issue.count && users === issue.users) return;
  Object.assign(issue, { count, users, last_seen, stored_occurrences });
  ui.refresh();
}, 5, () => ui.toast("This issue was deleted meanwhile. What is shown of it is no longer stored.", { error: true }));
