// The status of an issue: what it is, and one click to another, with a note and the release that holds the fix.

import { STATUSES } from "../search.js";
import { takeBack } from "./long.js";
import { refused } from "./refused.js";

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html, keyed } = ui;

  /** The statuses offered, in one order everywhere: one that came back is open already, so that takes the place of Open. */
  const offered = ({ status }) => [status === "reoccurred" ? status : "open", "in_progress", "fixed", "wont_fix"];

  const label = (id, { status }) => (id === "open" && ["fixed", "wont_fix"].includes(status) ? "Reopen" : STATUSES[id]);

  /**
   * Set the status, unless the issue has another one by now than the page shows. `again` loads the page's data anew and
   * gives it. True when it was set.
   * @param {any} data @param {string} status @param {{ note?: string, release?: string }} more @param {() => Promise<any>} again
   */
  async function set({ issue }, status, { note, release }, again) {
    const { id, status: before } = issue;
    if (status === before && !note && !release) return false;
    issue.status = status;
    ui.refresh();
    let answer;
    try {
      answer = await ui.api.post("issue-status", { id, status, note, release, expected: before });
    } catch (error) {
      issue.status = before;
      ui.refresh();
      await again();
      if (error.status === 409) ui.toast(error.message, { error: true });
      else refused(ui, "Nothing changed", error);
      return false;
    }
    ui.toast(`Set to ${STATUSES[status]}`, {
      undo: async () => {
        await takeBack(ui, { done: { status, changed_at: answer.changed_at, previous: { [id]: before }, fixes: answer.fixes } });
        await ui.reload();
      },
    });
    await again();
    return true;
  }

  async function pick(form, data, status, again) {
    const { note, release } = form.elements;
    const more = { note: note.value.trim() || undefined, release: (status === "fixed" && release.value.trim()) || undefined };
    if (!(await set(data, status, more, again))) return;
    note.value = "";
    if (status === "fixed") release.value = "";
  }

  const form = (data, again) => html`<form class="card status-form" aria-label="Status" @submit=${(event) => event.preventDefault()}>
    <div class="joined statuses" role="group" aria-label="Status">
      ${keyed(offered(data.issue), (id) => id, (id) => html`<button class="button" type="button" data-status=${id}
        aria-pressed=${id === data.issue.status ? "true" : "false"} @click=${({ target }) => pick(target.form, data, id, again)}>${label(id, data.issue)}</button>`)}
    </div>
    <textarea name="note" rows="1" aria-label="Note" placeholder="Note for the change (optional)" maxlength="10000"></textarea>
    <input name="release" aria-label="Release with the fix" placeholder="Fixed in release" maxlength="120" autocomplete="off" />
  </form>`;

  return { form, set };
};
