"""Applying one rule to all issues: some seconds inside the request, the rest as a job.

The issues are walked by id in batches. A batch compares what the rule assigned with what it matches and
writes the difference, so a walk can stop after any batch, be repeated, and never shows an issue without a
tag that it keeps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, sleep
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.system import JobCall, job_state, worker_alive
from snaglist.plugins.tags import queries
from snaglist.plugins.tags.assignments import attach_automatic
from snaglist.plugins.tags.queries import Rule
from snaglist.plugins.tags.rules import BATCH, matches

JOB = "tag_rule"
BUDGET_SECONDS = 2.0  # of the request's own transaction
WAIT_SECONDS = 2.0  # for the job with the rest
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the application of a tag's rule stands; `rule` None means that there is only something to clear."""

    tag_id: int
    rule: Rule | None
    position: int = 0
    done: int = 0
    finished: bool = False

    @property
    def rule_id(self) -> int | None:
        """The rule that is applied; a rebuilt rule has another id."""
        return self.rule.id if self.rule else None


def start(call: Call, tag_id: int) -> int | None:
    """Apply the tag's rule for at most 2 seconds in the open write transaction.

    Returns the id of the job that was queued for the rest, None when all is done.
    """
    walk = Walk(tag_id, queries.rule_of(call.db, tag_id))
    deadline = monotonic() + BUDGET_SECONDS
    while not walk.finished:
        if monotonic() >= deadline:
            return call.enqueue(JOB, {"tag_id": tag_id, "rule_id": walk.rule_id, "position": walk.position})
        walk = _step(call, walk)
    return None


def run(call: JobCall) -> Mapping[str, Any]:
    """Apply the rest of a rule, one transaction per batch, until done or until the rule is rebuilt again."""
    walk = Walk(call.args["tag_id"], None, call.args["position"])
    while not walk.finished:
        call.check_cancelled()
        walk = call.repeat(partial(_next_batch, call, walk))
        call.progress(walk.done)
    return {"tag_id": walk.tag_id, "issues": walk.done}


def wait(call: Call, job_id: int) -> None:
    """Wait a little for the job, which goes on by itself; a failed job's failure is raised.

    When no worker is alive it runs here: nobody else would.
    """
    deadline = monotonic() + WAIT_SECONDS
    while job_state(call, job_id).status == 202 and monotonic() < deadline:
        if worker_alive(call.service) or not call.service.jobs.run_next(call.application, job_id=job_id):
            sleep(POLL_SECONDS)


def _next_batch(call: JobCall, walk: Walk) -> Walk:
    with call.transaction() as db:
        queries.lock_tag(db, walk.tag_id)
        walk = replace(walk, rule=queries.rule_of(db, walk.tag_id))
        if walk.rule_id != call.args["rule_id"]:
            return replace(walk, finished=True)  # a later change of the tag walks over all issues itself
        return _step(call, walk)


def _step(call: Call, walk: Walk) -> Walk:
    if walk.rule is None or not walk.rule.enabled:
        return _clear_some(call, walk)
    return _apply_to_batch(call, walk, walk.rule)


def _clear_some(call: Call, walk: Walk) -> Walk:
    issue_ids = queries.some_assigned_by_rule(call.db, walk.tag_id, BATCH)
    queries.clear_assignments(call.db, {(issue_id, walk.tag_id) for issue_id in issue_ids}, "rule")
    return replace(walk, done=walk.done + len(issue_ids), finished=len(issue_ids) < BATCH)


def _apply_to_batch(call: Call, walk: Walk, rule: Rule) -> Walk:
    batch = queries.last_of_batch(call.db, walk.position, BATCH)
    if batch is None:
        return replace(walk, finished=True)
    last, number = batch
    fresh: list[int] = []
    stale: list[int] = []
    for issue in queries.candidates(call.db, rule.match_key, walk.position, last, rule.tag_id):
        if not matches(rule.match_key, issue.fields):
            if issue.source == "rule":
                stale.append(issue.id)
        elif issue.source is None:
            fresh.append(issue.id)
    queries.clear_assignments(call.db, {(issue_id, rule.tag_id) for issue_id in stale}, "rule")
    present = queries.hold_issues(call.db, fresh)
    attach_automatic(call.db, [(issue_id, rule.tag_id) for issue_id in sorted(present)], "rule", now=call.now)
    return replace(walk, position=last, done=walk.done + number)
