"""What the batches of a job did, kept with each of them in the settings.

A job whose worker died goes on behind the last one, and one that was cancelled or failed can be undone. When a job
succeeded, its result says all this; no job removes what is its own, or it would be lost between that and its end.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select

from snaglist.kernel import store
from snaglist.plugins.issues.bulk.outcome import Outcome
from snaglist.plugins.system import jobs_table, rows

KIND = "bulk_issues"  # of the jobs that do what is too large for a request


def keep(db: Connection, job_id: int, position: int, outcome: Outcome) -> None:
    """Store what the batch did that ends with the issue `position`."""
    kept = {"previous": outcome.previous, "gone": sorted(outcome.gone), "fixes": outcome.fixes}
    store.put_setting(db, _key(job_id, position), {"position": position, "fields": outcome.fields, **kept})


def kept_of_batch(db: Connection, job_id: int, position: int) -> Outcome | None:
    """Return what the batch did that ends with the issue `position`, None when it was not done."""
    saved = store.get_setting(db, _key(job_id, position))
    return None if saved is None else _read(saved)


def kept_of_job(db: Connection, job_id: int) -> tuple[Outcome, int]:
    """Return what all batches of a job did, and the last issue of the last one, 0 before the first."""
    outcome, position = Outcome(), 0
    begun = store.get_setting(db, f"{KIND}.{job_id}")
    if begun is not None:  # by 0.4, which kept no more than how far it came
        outcome, position = Outcome(begun["fields"], fixes=None), begun["position"]
    saved = store.get_settings(db, _key(job_id))
    for key in sorted(saved):
        outcome.include(_read(saved[key]))
        position = saved[key]["position"]
    return outcome, position


def outlived(db: Connection) -> list[str]:
    """Return the names of what is kept of jobs that succeeded or are forgotten."""
    key = store.settings.c.key
    keys = {
        name: int(name.split(".")[1])
        for name in db.scalars(select(key).where(key.startswith(f"{KIND}.", autoescape=True)))
    }
    needing = select(jobs_table.c.id).where(jobs_table.c.status != "succeeded")
    needed = {row.id for row in rows.among(db, needing, jobs_table.c.id, set(keys.values()))}
    return [name for name, job_id in keys.items() if job_id not in needed]


def forget(db: Connection, keys: list[str]) -> None:
    """Remove what is kept under these names."""
    rows.among(db, delete(store.settings), store.settings.c.key, keys)


def _key(job_id: int, position: int | None = None) -> str:
    """Return the name of what is kept of a batch, or what those of all batches begin with."""
    return f"{KIND}.{job_id}." + ("" if position is None else f"{position:020}")


def _read(saved: Mapping[str, Any]) -> Outcome:
    """Return what was kept of a batch."""
    previous = {int(issue_id): status for issue_id, status in saved["previous"].items()}
    fixes = {int(issue_id): (at, release) for issue_id, (at, release) in saved["fixes"].items()}
    return Outcome(saved["fields"], previous, gone=set(saved["gone"]), fixes=fixes)
