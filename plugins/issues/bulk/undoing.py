"""Taking back statuses that were set, whether by a request or by a job: of issues that nobody has touched since."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call, Conflict, Invalid
from snaglist.plugins.issues.bulk.kept import KIND, kept_of_job
from snaglist.plugins.issues.status import Fix, queries
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.system import jobs_table


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: the status that was set, until when, and by id the statuses before, and what was fixed before."""

    status: str
    until: str
    previous: Mapping[int, str]
    fixes: Mapping[int, Fix]


def done_before(call: Call, fields: Mapping[str, Any]) -> Done:
    """Return what an undo takes back: what an answer said of itself, or what a job did.

    Needs an open transaction. Invalid when the job set no statuses; Conflict while it is not finished, and when 0.4
    began it, which did not keep what is needed.
    """
    answer = fields["done"] if "done" in fields else _result(call, fields["job_id"])
    if "fixes" not in answer:
        raise Conflict("The job was begun by an earlier version of snaglist, so it cannot be undone.")
    previous = {int(issue_id): before for issue_id, before in answer["previous"].items()}
    fixes = {int(issue_id): (at, release) for issue_id, (at, release) in answer["fixes"].items()}
    return Done(answer["status"], answer["changed_at"], previous, fixes)


def _result(call: Call, job_id: int) -> Mapping[str, Any]:
    wanted = select(jobs_table).where(jobs_table.c.id == job_id, jobs_table.c.kind == KIND)
    row = call.db.execute(wanted).first()
    if row is None or row.args["action"] != "status":
        raise Invalid("job_id: not a job that set statuses")
    if row.status in ("queued", "running"):
        raise Conflict("The job is not finished, so it cannot be undone yet.")
    # What a job did that was cancelled or failed is told by its batches.
    answer = row.result if row.status == "succeeded" else kept_of_job(call.db, job_id)[0].answer("status", ())
    # One that found no issue any more did not keep its status.
    return {"status": row.args["fields"]["status"], "changed_at": row.finished_at, **answer}


def untouched(call: Call, done: Done, issue_ids: Sequence[int]) -> Mapping[str, list[int]]:
    """Lock issues and return those that are as they were left, by the status that they had before."""
    queries.lock(call.db, issue_ids)
    as_left = (issues.c.status == done.status, issues.c.status_updated_at <= done.until)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for (issue_id,) in call.db.execute(select(issues.c.id).where(issues.c.id.in_(issue_ids), *as_left)):
        found[done.previous[issue_id]].append(issue_id)
    return found
