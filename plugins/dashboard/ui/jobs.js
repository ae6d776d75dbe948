// The strip of running jobs: it stays while pages come and go.

import { api, watch } from "./api.js";
import { html, keyed, render } from "./dom.js";
import { sentence } from "./text.js";
import { toast } from "./widgets.js";
import { progress } from "./widgets/progress.js";

const SECONDS = 1;
const STAY = 8000;
const STAY_TO_UNDO = 60_000;
const ACTIVE = ["queued", "running"];
const WORDS = { queued: "waiting", running: "running", succeeded: "done", failed: "failed", cancelled: "cancelled" };

const host = Object.assign(document.createElement("section"), { className: "strip", ariaLabel: "Jobs" });
document.body.append(host);

/** By id: `{ id, label, job, stop, done }`. */
const followed = new Map();

/** Show a job until it ends. `done` gets the finished job, whatever its status; `undo` takes back what it did. */
export function follow(id, { label, done, undo } = {}) {
  const known = followed.get(id);
  if (known) {
    known.label ??= label;
    known.done ??= done;
    known.undo ??= undo;
    return;
  }
  const item = { id, label, done, undo, job: null, stop: null };
  followed.set(id, item);
  item.stop = watch("jobs", { id }, ({ data }) => update(item, data), SECONDS);
  void api("jobs", { id }).then(({ data }) => update(item, data), () => {});
}

/** Forget all: another application, or nobody signed in. */
export function leave() {
  for (const { stop } of followed.values()) stop();
  followed.clear();
  draw();
}

function update(item, job) {
  if (followed.get(item.id) !== item || (item.job && !ACTIVE.includes(item.job.status))) return;
  item.job = job;
  draw();
  if (ACTIVE.includes(job.status)) return;
  item.stop();
  if (job.status === "failed") toast(`${item.label ?? sentence(job.kind)}: ${job.error ?? "failed"}`, { error: true });
  setTimeout(() => close(item), canUndo(item) ? STAY_TO_UNDO : STAY);
  item.done?.(job);
}

function close(item) {
  if (followed.get(item.id) === item) followed.delete(item.id);
  draw();
}

/** One that was cancelled while it waited did nothing. */
const canUndo = ({ undo, job }) => Boolean(undo) && !ACTIVE.includes(job.status) && job.started_at !== null;

/** Asked once; the way back stays where it was not taken, such as without an answer. */
async function takeBack(item) {
  const { undo } = item;
  item.undo = null;
  draw();
  try {
    await undo(item.job);
    close(item);
  } catch (error) {
    item.undo = undo;
    draw();
    toast(error.message, { error: true });
  }
}

async function cancel({ id }) {
  try {
    await api.post("jobs", { id, action: "cancel" });
  } catch (error) {
    toast(error.message, { error: true });
  }
}

const line = (item) => {
  const { id, label, job } = item;
  return html`<div class="strip-job" data-status=${job.status}>
  <b>${label ?? sentence(job.kind)}</b>
  ${ACTIVE.includes(job.status)
    ? html`${progress(job.progress, label ?? sentence(job.kind))} <button class="button" type="button" aria-label=${`Cancel job ${id}`} @click=${() => cancel(job)}>Cancel</button>`
    : html`<span role="status">${WORDS[job.status]}</span>
      ${canUndo(item) && html`<button class="button" type="button" aria-label=${`Undo: ${label ?? sentence(job.kind)}`} @click=${() => takeBack(item)}>Undo</button>`}`}</div>`;
};

function draw() {
  const items = [...followed.values()].filter(({ job }) => job);
  render(keyed(items, ({ id }) => id, line), host);
}
