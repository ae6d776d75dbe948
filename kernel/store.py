"""The kernel's tables: in each application's database `settings` and the ledger; the registry.

The steps that make them made those of the jobs too, which are a part of the area `system` by now.
"""

from typing import Any

from sqlalchemy import Connection, Index, MetaData, PrimaryKeyConstraint, Table, UniqueConstraint, bindparam, select

from snaglist.kernel import times
from snaglist.kernel.columns import document, flag, id_column, metadata, moment, number, text
from snaglist.kernel.database import upsert
from snaglist.kernel.ddl import create_table

__all__ = [
    "applications", "get_setting", "get_settings", "instance", "put_setting", "registry_metadata",
    "schema_step", "settings",
]  # fmt: skip

registry_metadata = MetaData()


def _ledger(owner: MetaData) -> Table:
    return Table(
        "schema_step",
        owner,
        text("owner", 64),
        text("name", 100),
        moment("applied_at"),
        PrimaryKeyConstraint("owner", "name"),
    )


schema_step = _ledger(metadata)
registry_schema_step = _ledger(registry_metadata)

settings = Table("settings", metadata, text("key", 191, primary_key=True), document("value"), moment("updated_at"))

applications = Table(
    "applications",
    registry_metadata,
    text("id", 64, primary_key=True),
    text("name", 100),
    text("tenant", 63),
    number("position"),
    moment("created_at"),
    UniqueConstraint("tenant", name="uq_applications_tenant"),
    UniqueConstraint("position", name="uq_applications_position"),
)

instance = Table("instance", registry_metadata, text("key", 191, primary_key=True), text("value"), moment("updated_at"))

# PERF: asked with every request. Building a statement costs several times as much as executing it again.
_ONE_SETTING = select(settings.c.value).where(settings.c.key == bindparam("wanted"))
_SOME_SETTINGS = select(settings.c.key, settings.c.value).where(
    settings.c.key >= bindparam("first"), settings.c.key < bindparam("behind")
)


def get_setting(db: Connection, key: str, default: Any = None) -> Any:
    """Return the JSON value stored under a key of the application."""
    found = db.execute(_ONE_SETTING, {"wanted": key}).first()
    return default if found is None else found[0]


def put_setting(db: Connection, key: str, value: Any) -> None:
    """Store a JSON value under a key of the application."""
    row = {"key": key, "value": value, "updated_at": times.now()}
    upsert(db, settings, [row], replace=("value", "updated_at"))


def get_settings(db: Connection, prefix: str) -> dict[str, Any]:
    """Return all stored values whose key starts with a prefix, by key."""
    rows = db.execute(_SOME_SETTINGS, {"first": prefix, "behind": prefix + "\x7f"})
    return {row[0]: row[1] for row in rows}


def create_registry(db: Connection) -> None:
    """Step s001 of the registry."""
    create_table(
        db,
        "applications",
        text("id", 64, primary_key=True),
        text("name", 100),
        text("tenant", 63),
        number("position"),
        moment("created_at"),
        UniqueConstraint("tenant", name="uq_applications_tenant"),
        UniqueConstraint("position", name="uq_applications_position"),
    )
    create_table(db, "instance", text("key", 191, primary_key=True), text("value"), moment("updated_at"))
    create_table(
        db,
        "workers",
        text("id", 120, primary_key=True),
        text("kind", 20),
        moment("started_at"),
        moment("heartbeat_at"),
        text("version", 32),
        Index("ix_workers_heartbeat_at", "heartbeat_at"),
    )


def create_activity(db: Connection) -> None:
    """Step s002 of the registry."""
    create_table(
        db,
        "activity",
        text("application", 64, primary_key=True),
        moment("active_at"),
        Index("ix_activity_active_at", "active_at"),
    )


def create_core(db: Connection) -> None:
    """Step s001 of the kernel in an application's database."""
    create_table(db, "settings", text("key", 191, primary_key=True), document("value"), moment("updated_at"))
    create_table(
        db,
        "jobs",
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
        sqlite_autoincrement=True,
    )
