// Issues as text for a ticket or a chat.

import { plainTitle, STATUSES } from "../search.js";

/** The full address of an issue, as somebody else can open it. */
export const address = (ui, id) => location.origin + location.pathname + ui.link({ view: "issue", id });

const named = (issue) => `${issue.exception_class ? `${issue.exception_class}: ` : ""}${plainTitle(issue)}`;
const plain = (text) => text.replace(/[\\`*_[\]<>]/g, "\\$&");
const facts = (ui, issue) => `${issue.severity} · ${STATUSES[issue.status]} · ${ui.plural(issue.count, "event")}`;

/** A code block whose fence is longer than any in the text. */
function block(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return ["", fence, text, fence];
}

/** Several issues, a line each. */
export const lines = (ui, issues) => issues
  .map((issue) => `- [${plain(named(issue))}](${address(ui, issue.id)}) ${facts(ui, issue)}, last seen ${issue.last_seen} UTC`).join("\n");

/** One issue with what is needed to start on it. */
export function whole(ui, issue) {
  const where = [issue.environment, issue.channel, issue.module_name, issue.source_frame].filter(Boolean).join(" · ");
  return [
    `### ${plain(named(issue))}`,
    "",
    `${facts(ui, issue)} · ${issue.first_seen} to ${issue.last_seen} UTC`,
    plain([where, issue.tags.map(({ name }) => name).join(", ")].filter(Boolean).join(" · ")),
    address(ui, issue.id),
    ...(issue.sample_message && issue.sample_message !== issue.title ? block(issue.sample_message) : []),
    ...(issue.sample_stack ? block(issue.sample_stack) : []),
  ].join("\n");
}
