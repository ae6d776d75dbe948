// Reading the drop folder now: the job in the strip, and what it found.

import { skipped } from "./levels.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  function tell({ result }) {
    if (result) ui.toast(`${ui.plural(result.files, "file")} read: ${ui.plural(result.events, "new event")}, ${ui.plural(result.new_groups, "new issue")}`
      + (result.filtered ? `, ${skipped(ui, result.filtered, result.filtered_as)}.` : "."));
    if (result?.waiting) ui.toast(`${ui.plural(result.waiting, "file")} may still be growing: read so far, archived once complete.`);
    result?.remarks.filter(({ kind }) => kind === "warning").forEach(({ file, text }) => ui.toast(`${file}: ${text}`, { error: true }));
    result?.errors.forEach(({ file, error }) => ui.toast(`${file}: ${error}`, { error: true }));
    void ui.reload();
  }

  return () => ui.act(
    () => ui.api.post("import-incoming").then(({ job_id: id }) => ui.follow(id, { label: "Import", done: tell })),
    "The drop folder is being read.",
  );
};
