// What was found in a file that was uploaded, in words, and the ways on.

import { skipped } from "../levels.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export function found(ui, { app, equal, result }) {
  const { html } = ui;
  const { entries, with_time: timed, with_level: levelled, events, groups, new_groups: fresh } = result;
  const known = equal || result.state === "duplicate" || (result.state === "unchanged" && !entries);
  const count = (many, words) => many > 0 && `${ui.number(many)} ${words}`;

  const said = known ? ["already read: nothing new in it"] : [
    ui.plural(entries, "entry", "entries"),
    groups > 0 ? `${ui.plural(groups, "issue")}${fresh === groups ? "" : fresh ? `, ${ui.number(fresh)} new` : ", none new"}` : "no issue",
    count(entries - timed, "without a time"),
    count(entries - levelled, "without a level"),
    result.filtered > 0 && skipped(ui, result.filtered, result.filtered_as),
    count(result.access_lines, "requests"),
  ].filter(Boolean);

  const source = result.source_id && ui.link({ app, view: "source", id: result.source_id });
  const issues = groups === 1 ? ui.link({ app, view: "issue", id: result.group_id }) : ui.link({ app, source: result.file, status: "all" });
  return html`<span>${said.join(" · ")}</span>
    ${events > 0 && groups > 0 && html`<a href=${issues}>${groups === 1 ? "See the issue" : "See the issues"}</a>`}
    ${source && html`<a href=${source}>Open the log</a>`}
    ${result.error && html`<p class="problem">${ui.sentence(result.error)}</p>`}
    ${result.remarks.filter(({ kind }) => kind === "warning").map(({ text }) => html`<p class="remark" data-kind="warning">${ui.sentence(text)}
      ${source && html`<a class="button" href=${ui.link({ app, view: "format", source: result.source_id })}>Make a format</a>`}</p>`)}`;
}
