// Why a change was refused.

/** Tell it: `said` says what did not happen. Without an answer nobody knows: the page shows it as soon as there is one. */
export function refused(ui, said, error) {
  const known = error.status === 0 ? "It is not known whether this was done" : said;
  ui.toast(`${known}: ${error.message}`, { error: true });
  if (error.status === 0) void ui.reload();
}
