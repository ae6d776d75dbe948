"""SQL of runs."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, update

from snaglist.plugins.connectors.tables import connector_runs as runs
from snaglist.plugins.connectors.tables import connectors
from snaglist.plugins.system import jobs_table

UNFINISHED = ("queued", "running")


def runs_of(db: Connection, run_ids: Sequence[int]) -> Sequence[Row[Any]]:
    """Return runs by id."""
    return db.execute(shown().where(runs.c.id.in_(run_ids)).order_by(runs.c.id)).all()


def runs_of_job(db: Connection, job_id: int) -> Sequence[Row[Any]]:
    """Return the runs that a job was queued for, by id."""
    return db.execute(shown().where(runs.c.job_id == job_id).order_by(runs.c.id)).all()


def unfinished_runs(db: Connection) -> Sequence[Row[Any]]:
    """Return the runs that are queued or running, as far as their rows tell."""
    return db.execute(shown().where(runs.c.status.in_(UNFINISHED)).order_by(runs.c.id)).all()


def last_started(db: Connection, connector_id: int) -> str | None:
    """Return when the newest run of a connector began."""
    return db.execute(select(func.max(runs.c.started_at)).where(runs.c.connector_id == connector_id)).scalar()


def change_run(db: Connection, run_id: int, **values: Any) -> bool:
    """Change columns of a run that is not finished; False when there is none."""
    open_run = (runs.c.id == run_id, runs.c.finished_at.is_(None))
    return db.execute(update(runs).where(*open_run).values(values)).rowcount == 1


def shown() -> Select[Any]:
    """Select runs with their connectors and jobs."""
    return select(
        runs,
        connectors.c.name.label("connector_name"),
        connectors.c.type.label("connector_type"),
        jobs_table.c.status.label("job_status"),
        jobs_table.c.error.label("job_error"),
    ).select_from(
        runs.join(connectors, connectors.c.id == runs.c.connector_id).outerjoin(
            jobs_table, jobs_table.c.id == runs.c.job_id
        )
    )
