"""Asking the rules about what happened, and queueing what they have to say."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.kernel.database import ends_transaction
from snaglist.plugins.alerting import outbox
from snaglist.plugins.alerting.evaluating import heartbeat, minutes, people, position, queries, triggers
from snaglist.plugins.alerting.evaluating.seen import SeenIssue, of_batch, silence
from snaglist.plugins.alerting.rules import enabled_rules
from snaglist.plugins.issues import StoredBatch
from snaglist.plugins.tags import tag_pairs

log = logging.getLogger("snaglist")

COUNTING = ("threshold", "spike")
_Fired = Mapping[tuple[int, int], str]


def look_at_batch(call: Call, batch: StoredBatch) -> None:
    """Ask the rules about a stored batch, in its transaction.

    When that fails the position falls behind the batch, and the job of the area asks again.
    """
    rules = [] if batch.reread else enabled_rules(call.db)
    if not rules:
        return
    heartbeat.note_events(call, [rule for rule in rules if rule.trigger_type == "heartbeat"], batch)
    rules = [rule for rule in rules if rule.trigger_type != "heartbeat"]
    if not rules:
        return
    seen = of_batch(call, batch)
    issues = _silenced(call, seen)
    if any(rule.trigger_type in COUNTING for rule in rules):
        minutes.count(call.db, call.now, seen)
    try:
        with call.db.begin_nested():
            look(call, rules, seen, issues)
    except Exception as error:
        if ends_transaction(error):
            raise
        log.exception("alert rules of %s could not be asked", call.application.id)
        position.fall_behind(call, batch)


def look_again(call: Call, seen: Mapping[int, SeenIssue]) -> None:
    """Ask the rules once more, in the open write transaction; what was counted by the minute is counted already."""
    rules = [rule for rule in enabled_rules(call.db) if rule.trigger_type != "heartbeat"]
    if rules and seen:
        look(call, rules, seen, _silenced(call, seen))


def look(call: Call, rules: Sequence[Row[Any]], seen: Mapping[int, SeenIssue], issues: Mapping[int, Row[Any]]) -> None:
    """Ask rules about issues and queue a message for each that fires."""
    asked = {
        issue_id: issue
        for issue_id, issue in seen.items()
        if issue_id in issues and issues[issue_id].status != "wont_fix" and not all(e.silent for e in issue.events)
    }
    if not asked:
        return
    tag_ids = {rule.tag_id for rule in rules if rule.tag_id is not None}
    tagged = tag_pairs(call.db, asked.keys(), tag_ids) if tag_ids else set()
    fired = queries.fired(call.db, asked.keys())
    counting = any(rule.trigger_type == "users" for rule in rules)
    users = people.users_before(call.db, asked, issues) if counting else {}
    for rule in rules:
        concerned = {
            issue_id: issue
            for issue_id, issue in asked.items()
            if rule.module_id in (None, issues[issue_id].module_id)
            and (rule.tag_id is None or (issue_id, rule.tag_id) in tagged)
        }
        found = _ask(call, rule, concerned, issues, fired, users)
        if found:
            queries.note_fired(call.db, rule.id, found)
            firing = [issues[issue_id] for issue_id in found]
            text = outbox.summary(rule, len(firing))
            document = outbox.document(call, rule.trigger_type, rule.name, text, firing)
            outbox.queue(call, rule, document, outbox.amount(len(firing), "issue"))


def _ask(
    call: Call,
    rule: Row[Any],
    seen: Mapping[int, SeenIssue],
    issues: Mapping[int, Row[Any]],
    fired: _Fired,
    users: Mapping[int, int],
) -> dict[int, str]:
    """Return the issues that a rule fires for, in the order of their events, with the time of the event."""
    if rule.trigger_type == "threshold":
        return triggers.threshold(call.db, rule, seen, fired)
    if rule.trigger_type == "spike":
        return triggers.spike(call.db, rule, seen, fired)
    found: dict[int, str] = {}
    for issue_id, issue in seen.items():
        before = fired.get((rule.id, issue_id))
        if rule.trigger_type == "new_error":
            at = triggers.new_error(rule, issue, issues[issue_id], before)
        elif rule.trigger_type == "users":
            at = triggers.users(rule, issue, issues[issue_id], users[issue_id], before)
        else:
            at = triggers.reoccurrence(rule, issue, before)
        if at is not None:
            found[issue_id] = at
    return found


def _silenced(call: Call, seen: Mapping[int, SeenIssue]) -> dict[int, Row[Any]]:
    """Return the rows of the issues; events of those that are snoozed until a later time become silent."""
    issues = queries.some_issues(call.db, seen.keys())
    for issue_id, issue in issues.items():
        if issue.snoozed_until is not None and issue.snoozed_until > call.now:
            silence(seen[issue_id])
    return issues
