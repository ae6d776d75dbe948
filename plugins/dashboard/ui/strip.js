// The strip of jobs: it is fetched with the first job.

import { api } from "./api.js";
import { withStyles } from "./widgets.js";

let strip = null;

/** Show a job until it ends. */
export async function follow(...given) {
  strip ??= withStyles(import("./jobs.js"));
  (await strip).follow(...given);
}

/** Look for jobs that somebody started before this page was opened. */
export async function findJobs() {
  const { data } = await api("jobs", { status: ["queued", "running"] }).catch(() => ({ data: [] })); // not allowed to see jobs: no strip
  for (const { id, created_by: person } of data) if (person) void follow(id);
}

/** Forget all jobs: another application, or nobody signed in. */
export async function leaveJobs() {
  (await strip)?.leave();
}
