// Issues that are one problem: what may be merged into an issue, why its events belong to it, and the way out again.

import { parts } from "../row.js";
import { plainTitle } from "../search.js";
import { tell } from "./triage.js";

const SHOWN = 3; // issues that a question describes

const inBulk = (ui, body) => ui.api.post("bulk-issues", body, { wait: true });

/** An issue as a question about merging shows it. */
function described(ui, issue, says) {
  const { badge } = parts(ui);
  const { sample_message: message } = issue;
  return ui.html`<section class="merge-side" data-level=${issue.severity}><p class="faint">${says}</p>
    <h3>${issue.exception_class && ui.html`<b class="mono">${issue.exception_class}</b>`} ${plainTitle(issue)}</h3>
    <p class="row-facts">${badge(issue.severity)} <span>Issue ${issue.id}</span> <span>${ui.plural(issue.count, "event")}</span>
      <span>last seen ${ui.ago(issue.last_seen)}</span></p>
    ${message && message !== issue.title && ui.html`<pre tabindex="0" aria-label=${`Example of issue ${issue.id}`}>${message}</pre>`}</section>`;
}

/** Make issues part of another one, after showing what goes where. */
export async function merge(ui, ids, target) {
  const one = async (id) => (await ui.api("error", { id, limit: 1, include_context: false })).data;
  let stays, go;
  try {
    [stays, ...go] = await Promise.all([target, ...ids.slice(0, SHOWN)].map(one));
  } catch (error) {
    ui.toast(error.status === 404 ? "There is no issue with this number." : `Not merged: ${error.message}`, { error: true });
    return null;
  }
  if (go.some(({ id }) => id === stays.id)) {
    ui.toast(`This is issue ${stays.id} itself: choose another one.`, { error: true });
    return null;
  }
  const many = ids.length > 1;
  const more = ids.length - go.length;
  return ui.confirm({
    title: `Merge ${ui.plural(ids.length, "issue")} into issue ${stays.id}?`,
    text: ui.html`${go.map((issue) => described(ui, issue, `Moves into issue ${stays.id}`))}
      ${more > 0 && ui.html`<p class="faint">and ${ui.plural(more, "more issue")}</p>`}
      ${described(ui, stays, "Stays, with its status and assignee")}
      <p>The events, tags, comments and history of the ${many ? "others" : "other"} move to issue ${stays.id}, and so do later events of the
        same kind. Links to the old ${many ? "numbers lead" : "number lead"} there. There is no undo, but each kind of event can be taken out again.</p>`,
    action: "Merge",
    run: async () => {
      tell(ui, await inBulk(ui, { action: "merge", ids, target_id: stays.id }), (issues) => `${issues} merged into ${stays.id}`);
      await ui.reload();
    },
  });
}

/** Take the events of one kind out of an issue into a new one, after saying what that means. */
const takeOut = (ui, issue, grouping, title) => ui.ask({
  fields: [],
  title: `Take ${ui.plural(grouping.count, "event")} out of issue ${issue.id}?`,
  text: ui.html`<div class="merge-side" data-level=${issue.severity}>${title}</div>
    <p>${grouping.count === 1 ? "It becomes" : "They become"} an issue of ${grouping.count === 1 ? "its" : "their"} own, open and with the same tags.
      Later events of this kind go there, too, and so do links to an issue that was merged for them.</p>`,
  action: "Take out",
  save: async () => {
    const answer = await inBulk(ui, { action: "unmerge", id: issue.id, grouping_id: grouping.id });
    tell(ui, answer, () => `Taken out as issue ${answer.new_id}`, () => inBulk(ui, { action: "merge", ids: [answer.new_id], target_id: issue.id }));
    await ui.reload();
  },
});

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;

  function submit(event, issue) {
    event.preventDefault();
    const field = event.target.elements.other;
    const other = Number(field.value);
    field.value = "";
    merge(ui, [other], issue.id);
  }

  const suggestion = (issue, row) => html`<li><a href=${ui.link({ view: "issue", id: row.issue_id })}>Issue ${row.issue_id}</a>
    <pre tabindex="0" aria-label="Template in common">${row.template}</pre>
    <button class="button" @click=${() => merge(ui, [row.issue_id], issue.id)}>Merge ${row.issue_id} into this one …</button></li>`;

  const joining = (issue, suggestions) => issue.origin === "ingested" && html`<section class="panel"><h2>Merge</h2>
    ${suggestions.length > 0 && html`<p>${suggestions.length === 1 ? "This issue may be the same problem: its messages differ" : "These issues may be the same problem: their messages differ"} in one value only.</p>
      <ul class="groupings">${keyed(suggestions, (row) => row.issue_id, (row) => suggestion(issue, row))}</ul>`}
    <p class="faint">Is another issue the same problem? Its events move here.</p>
    <form class="toolbar" @submit=${(event) => submit(event, issue)}>
      <input id="merge-other" name="other" type="number" min="1" required aria-label="Number of the issue to merge into this one" placeholder="Number" />
      <button class="button">Merge …</button>
    </form></section>`;

  // -- why events belong together

  /** What the events of a grouping have in common, as its title. */
  function title({ parts: { custom, exceptions, access, template } }) {
    if (custom) return html`<p class="mono">${[custom].flat().join(", ")}</p>`;
    if (access) return html`<p class="mono">${access.method} ${access.path} → ${access.status}</p>`;
    return html`${exceptions?.map((exception) => html`<p class="mono"><b>${exception.class}</b></p>
      <ul class="mono faint key-frames">${exception.frames.map((frame) => html`<li>${frame}</li>`)}</ul>`)}
      ${template && html`<pre tabindex="0" aria-label="Template">${template}</pre>`}`;
  }

  /** Why events came to one grouping, in words. */
  function reason({ parts: { custom, exceptions, access } }) {
    if (custom) return "The sender gave these events the same fingerprint.";
    if (access) return "Same request and status, once numbers and the like are left out.";
    if (exceptions?.length) return "Same exceptions, raised through the same functions of the application. Line numbers, messages and library code do not count.";
    return "Same message, once the changing parts are left out.";
  }

  const place = ({ parts: { module } }, issue) => `Only events ${module ? `of the module ${issue.module_name ?? module}` : "without a module"} are grouped here.`;

  const learned = ({ learned: found }) => found && html`<p>Learned: ${found.values.map(({ word }) => word).join(", ")} ${found.values.length === 1 ? "is a value" : "are values"} in</p>
    <pre tabindex="0" aria-label="Common template">${found.template}</pre>`;

  const grouping = (row, several, issue) => html`<li class=${several ? "grouping grouping-one" : "grouping"}>
    ${several && html`<p class="grouping-count"><b>${ui.plural(row.count, "event")}</b> <span class="faint">last <ui-ago at=${row.last_seen}></ui-ago></span></p>`}
    ${title(row)} ${learned(row)}
    <p class="faint">${reason(row)} ${place(row, issue)}</p>
    <details><summary>Key</summary><pre tabindex="0" aria-label="Grouping key">${row.key}</pre></details>
    ${several && html`<p><button class="button" aria-label=${`Take ${ui.plural(row.count, "event")} out into an issue of their own`}
      @click=${() => takeOut(ui, issue, row, title(row))}>Take out …</button></p>`}</li>`;

  const groupings = (rows, issue) => rows.length > 0 && html`<section class="panel"><h2>Why grouped</h2>
    ${rows.length > 1 && html`<p class="faint">${ui.number(rows.length)} kinds of events are together here.</p>`}
    <ul class="groupings">${keyed(rows, ({ id }) => id, (row) => grouping(row, rows.length > 1, issue))}</ul></section>`;

  return { groupings, joining };
};
