"""The table of jobs in each application's database. A step of the kernel makes it."""

from sqlalchemy import Index, Table, UniqueConstraint

from snaglist.kernel.columns import document, flag, id_column, metadata, moment, number, text

# `dedupe` is plain only while the job is unfinished, so the unique key is "one unfinished job of a key".
jobs = Table(
    "jobs",
    metadata,
    id_column(),
    text("kind", 40),
    document("args"),
    text("status", 16),
    number("done"),
    number("total", nullable=True),
    text("unit", 20),
    text("text", 500, nullable=True),
    document("result", nullable=True),
    text("error", 1000, nullable=True),
    number("error_status", nullable=True),
    number("attempts"),
    number("max_attempts"),
    flag("cancel_requested"),
    text("dedupe", 191, nullable=True),
    text("node", 64, nullable=True),
    text("lease_owner", 120, nullable=True),
    moment("run_at"),
    moment("created_at"),
    moment("started_at", nullable=True),
    moment("heartbeat_at", nullable=True),
    moment("finished_at", nullable=True),
    text("created_by", 200, nullable=True),
    Index("ix_jobs_status", "status", "run_at"),
    Index("ix_jobs_kind", "kind", "created_at"),
    UniqueConstraint("dedupe", name="uq_jobs_dedupe"),
    sqlite_autoincrement=True,  # or SQLite gives the id of a forgotten job to a new one
)
