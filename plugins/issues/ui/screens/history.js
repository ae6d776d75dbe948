// What was done about an issue and what was said: in sentences, newest first, with a field for a comment.

import { STATUSES } from "../search.js";
import { refused } from "./refused.js";

const STAMP = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?/g;
const SHOWN = 6;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;
  let whole = false;

  const timed = (text) => text.replace(STAMP, (stamp) => `${ui.clock(stamp.slice(0, 19))} ${ui.zone()}`);

  /** @param {{ from_status?: string, to_status?: string }} row */
  function status({ from_status: from, to_status: to }) {
    if (!from) return `set it to ${STATUSES[to]}`;
    return from === to ? `left it at ${STATUSES[to]}` : `set it to ${STATUSES[to]} (was ${STATUSES[from]})`;
  }

  function snooze(note) {
    if (note === "Ended") return "ended the snooze of its alerts";
    return `snoozed its alerts ${timed(note[0].toLowerCase() + note.slice(1))}`;
  }

  function merge(note) {
    const [how, ids] = note.split(": ");
    const issues = ids?.includes(",") ? "issues" : "issue";
    return how === "Merged" ? `merged ${issues} ${ids} into it` : `joined it with ${issues} ${ids}: ${how[0].toLowerCase()}${how.slice(1)}`;
  }

  const unmerge = (note) => note.startsWith("Unmerged from ")
    ? `took it out of issue ${note.slice("Unmerged from ".length)}` : `took issue ${note.slice("Unmerged: ".length)} out of it`;

  function assignment(note) {
    return note === "Unassigned" ? "unassigned it" : `assigned it to ${note.slice("Assigned to ".length)}`;
  }

  /**
   * What was done, and the note that is not told by it.
   * @param {any} row
   */
  function told({ event, note, ...row }) {
    switch (event) {
      case "comment": return ["commented", note];
      case "created": return [row.to_status ? `created it as ${STATUSES[row.to_status]}` : "created it", note === "Created manually" ? null : note];
      case "status": return [status(row), note];
      case "tracker": return row.to_status ? [status(row), note] : ["changed its link to the tracker", note];
      case "reoccurrence": return ["came back after the fix", note && timed(note)];
      case "snooze": return note ? [snooze(note)] : ["changed the snooze of its alerts"];
      case "merge": return note ? [merge(note)] : ["merged issues into it"];
      case "unmerge": return note ? [unmerge(note)] : ["split some events off"];
      case "assignment": return note ? [assignment(note)] : ["changed its assignee"];
      case "edit": return ["edited it", note];
      default: return [event, note];
    }
  }

  const who = ({ actor, event }) => actor ?? (event === "reoccurrence" ? "The issue" : "snaglist");

  function entry(row) {
    const [text, note] = told(row);
    return html`<li data-event=${row.event} data-status=${row.to_status}><p><b>${who(row)}</b> ${text}
      <span class="faint">· <ui-ago at=${row.created_at}></ui-ago></span></p>${note && html`<p class="note">${note}</p>`}</li>`;
  }

  /** The newest entry in a line, for the head of the page; what is read aloud when it changes has no time in it. */
  function latest([row]) {
    if (!row) return null;
    const [text, note] = told(row);
    return html`<span role="status"><b>${who(row)}</b> ${text}</span> <span class="faint">· <ui-ago at=${row.created_at}></ui-ago></span>
      ${note && html`<span class="latest-note">${note}</span>`}`;
  }

  // -- comments

  let sending = false;

  async function send(field, id, again) {
    const text = field.value.trim();
    if (!text) return void field.focus();
    if (sending) return;
    sending = true;
    try {
      await ui.api.post("issue-comments", { id, text });
      field.value = "";
      await again();
    } catch (error) {
      refused(ui, "The comment was not kept", error);
    } finally {
      sending = false;
    }
  }

  const sends = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  };

  const composer = (id, again) => html`<form class="comment-form" aria-label="Comment" @submit=${(event) => {
    event.preventDefault();
    send(event.target.elements.text, id, again);
  }}>
    <textarea id="comment" name="text" rows="2" aria-label="Comment" placeholder="Write a comment" maxlength="10000" @keydown=${sends}></textarea>
    <p class="toolbar"><button class="button">Comment</button> <span class="faint">Press Ctrl+Enter to post</span></p></form>`;

  function showAll() {
    whole = true;
    ui.refresh();
  }

  const entries = (rows) => html`<ol class="history">${keyed(rows, ({ id }) => id, entry)}</ol>`;

  const view = (rows, id, again) => html`${composer(id, again)}
    ${rows.length ? entries(whole ? rows : rows.slice(0, SHOWN)) : html`<p class="faint">No activity yet.</p>`}
    ${!whole && rows.length > SHOWN && html`<p><button class="button" @click=${showAll}>Show ${ui.number(rows.length - SHOWN)} older entries</button></p>`}`;

  return { latest, view, open: () => (whole = false) };
};
