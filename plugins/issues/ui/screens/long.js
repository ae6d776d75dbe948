// Work on very many issues, which goes on as a job: how it ended, and the way back.

/**
 * Follow a job of `bulk-issues`. `text` makes the message from "10,000 issues"; with `doing`, what the job is called, its
 * statuses can be taken back when it has ended.
 */
export function followJob(ui, id, text, doing) {
  ui.toast("This takes a moment and goes on in the background.");
  ui.follow(id, {
    label: doing,
    undo: doing && (() => takeBack(ui, { job_id: id })),
    done({ status, result }) {
      if (status === "succeeded") ui.toast(text(ui.plural(result.updated, "issue")));
      void ui.reload();
    },
  });
}

/**
 * Give issues the statuses back that they had before a job, or before what was `done`; those that somebody has touched
 * since stay as they are.
 * @param {any} ui @param {{ job_id: number } | { done: any }} what
 */
export async function takeBack(ui, what) {
  const said = (issues) => `${issues} set back; what was changed since stays`;
  const answer = await ui.api.post("bulk-issues", { action: "undo", ...what });
  if (!answer.job_id) ui.toast(said(ui.plural(answer.updated, "issue")));
  else ui.follow(answer.job_id, {
    label: "Undoing",
    done({ status, result }) {
      if (status === "succeeded") ui.toast(said(ui.plural(result.updated, "issue")));
      void ui.reload();
    },
  });
}
