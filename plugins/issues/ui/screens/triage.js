// Changing issues: shown at once where that is safe, taken back when the service refuses, undone from the message.
//
// A subject is what a change is about: `{ issues }`, objects of a list or page, or `{ issues, filter, total }`: all
// issues that the filter finds, of which `issues` are on the screen.

import { DELETION, STATUSES } from "../search.js";
import { followJob, takeBack } from "./long.js";
import { refused } from "./refused.js";

const AT_ONCE = 200; // ids in one request

export const count = ({ issues, filter, total }) => (filter ? total : issues.length);

/** Send one action; returns the answer, or null when it was refused, which is told. */
async function send(ui, { issues, filter, total }, body) {
  const which = filter ? { filter } : { ids: issues.map(({ id }) => id) };
  try {
    return await ui.api.post("bulk-issues", { ...which, ...body }, { wait: count({ issues, filter, total }) <= AT_ONCE });
  } catch (error) {
    refused(ui, "Nothing changed", error);
    return null;
  }
}

/** Say what was done. Long work goes on as a job, which tells how it ended; `doing` names one that can be taken back. */
export function tell(ui, answer, text, undo, doing = null) {
  if (answer.job_id) return followJob(ui, answer.job_id, text, doing);
  ui.toast(text(ui.plural(answer.updated, "issue")), { undo: undo && back(ui, undo) });
}

const back = (ui, undo) => async () => {
  await undo();
  await ui.reload();
};

async function inPortions(ui, ids, body) {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await ui.api.post("bulk-issues", { ids: ids.slice(at, at + AT_ONCE), ...body }, { wait: true });
  }
}

/**
 * Do an action. `patch(issue)` shows it at once in the objects on the screen and is taken back when the service refuses;
 * `said` makes the message from "3 issues"; `undo(answer)` takes the action back. Null: refused.
 */
async function act(ui, subject, { body, patch, said, undo, doing = null, reload = true }) {
  const before = subject.issues.map((issue) => ({ ...issue }));
  if (patch) {
    subject.issues.forEach(patch);
    ui.refresh();
  }
  const answer = await send(ui, subject, body);
  if (!answer) {
    subject.issues.forEach((issue, at) => Object.assign(issue, before[at]));
    ui.refresh();
    return null;
  }
  const changed = body.action !== "status" || Object.keys(answer.previous ?? {}).length > 0; // all may have had it already
  tell(ui, answer, said, changed && undo && (() => undo(answer, before)), doing);
  if (reload) await ui.reload();
  return answer;
}

/** What an undo takes of an answer that set statuses. */
const done = ({ status, changed_at, previous, fixes }) => ({ status, changed_at, previous, fixes });

/** Set the status of those that have another one. The rows stay where they are, so that a list does not jump. */
export function setStatus(ui, chosen, status) {
  const name = STATUSES[status].toLowerCase();
  const subject = chosen.filter ? chosen : { issues: chosen.issues.filter((issue) => issue.status !== status) };
  if (!count(subject)) return ui.toast(`${ui.plural(count(chosen), "issue")} already set to ${name}`);
  return act(ui, subject, {
    body: { action: "status", status },
    patch: (issue) => (issue.status = status),
    said: (issues) => `${issues} set to ${name}`,
    doing: `Setting ${ui.plural(count(subject), "issue")} to ${name}`,
    undo: (answer) => takeBack(ui, { done: done(answer) }),
    reload: false,
  });
}

const has = (issue, tag) => issue.tags.some(({ id }) => id === tag.id);

/** Add a tag to issues, or remove it. Taken back for those that had it otherwise; not for issues off the screen. */
export function tagAll(ui, subject, tag, action) {
  const add = action === "add";
  const changed = subject.issues.filter((issue) => has(issue, tag) !== add).map(({ id }) => id);
  return act(ui, subject, {
    body: { action: `${action}_tag`, tag_id: tag.id },
    patch: (issue) => (issue.tags = [...issue.tags.filter(({ id }) => id !== tag.id), ...(add ? [{ ...tag, source: "manual" }] : [])]),
    said: (issues) => (add ? `${issues} tagged ${tag.name}` : `Tag ${tag.name} removed from ${issues}`),
    undo: !subject.filter && changed.length > 0
      && (() => inPortions(ui, changed, { action: add ? "remove_tag" : "add_tag", tag_id: tag.id })),
  });
}

/** Assign issues to a person of the host, or to nobody (null). */
export const assign = (ui, subject, person) =>
  act(ui, subject, {
    body: { action: "assign", assigned_to_id: person?.id ?? null },
    patch: (issue) => Object.assign(issue, { assigned_to_id: person?.id ?? null, assigned_to_label: person?.label ?? null }),
    said: (issues) => (person ? `${issues} assigned to ${person.label}` : `${issues} assigned to nobody`),
    undo: !subject.filter && ((_, before) => reassign(ui, before)),
  });

async function reassign(ui, before) {
  for (const person of new Set(before.map(({ assigned_to_id: id }) => id))) {
    const ids = before.filter(({ assigned_to_id: id }) => id === person).map(({ id }) => id);
    await inPortions(ui, ids, { action: "assign", assigned_to_id: person });
  }
}

/** Silence alerts: `{ hours }` from now, or `{ count }` further events; null wakes the issues. */
export function snooze(ui, subject, wanted) {
  if (!wanted) return act(ui, subject, { body: { action: "unsnooze" }, patch: null, undo: null, said: (issues) => `Snooze of ${issues} ended` });
  const { hours, count: events } = wanted;
  const how = hours ? { until: ui.stamp(new Date(Date.now() + hours * 3_600_000)) } : { count: events };
  return act(ui, subject, {
    body: { action: "snooze", ...how },
    patch: (issue) => Object.assign(issue, { snoozed_until: how.until ?? null, snooze_count: how.count ?? null }),
    said: (issues) => `Alerts of ${issues} snoozed ${wanted.label}`,
    undo: ({ ids }) => inPortions(ui, ids, { action: "unsnooze" }),
  });
}

/** Remove issues for good; what has to be typed is asked for. `leave` shows what is left. */
export const remove = (ui, subject, leave = ui.reload) =>
  ui.confirm({
    title: `Delete ${ui.plural(count(subject), "issue")}?`,
    text: count(subject) === 1 ? ui.html`<b>${subject.issues[0].title}</b>: its events, tags and history are permanently deleted. Later events of the same kind will create a new issue.`
      : "Their events, tags and history are permanently deleted. Later events of the same kind will create new issues.",
    action: "Delete",
    typed: DELETION,
    run: async (confirmation) => {
      const which = subject.filter ? { filter: subject.filter } : { ids: subject.issues.map(({ id }) => id) };
      const answer = await ui.api.post("bulk-issues", { ...which, action: "delete", confirmation }, { wait: true });
      tell(ui, answer, (issues) => `${issues} deleted`);
      await leave();
    },
  });

/** Add a tag to an issue, or remove it; `tag` as in the issue's own list. */
export async function setTag(ui, issue, tag, action) {
  const before = issue.tags;
  const others = before.filter(({ id }) => id !== tag.id);
  issue.tags = action === "add" ? [...others, { ...tag, source: "manual" }] : others;
  ui.refresh();
  const post = (what) => ui.api.post("issue-tags", { group_id: issue.id, tag_id: tag.id, action: what });
  try {
    await post(action);
  } catch (error) {
    issue.tags = before;
    ui.refresh();
    return refused(ui, "Tag not changed", error);
  }
  ui.toast(action === "add" ? `Tagged ${tag.name}` : `Tag ${tag.name} removed`, {
    undo: async () => {
      await post(action === "add" ? "remove" : "add");
      ui.reload();
    },
  });
}

/** The tag of a name, made when there is none. */
export async function tagNamed(ui, tags, name) {
  const same = (tag) => tag.name.toLowerCase() === name.toLowerCase();
  return tags.find(same) ?? ui.api.post("tags", { name });
}
