"""Schema steps of the connectors area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import BigInteger, Column, Connection, Index, MetaData, String, Table, UniqueConstraint, select, update

from snaglist.kernel import digest
from snaglist.kernel.columns import data, document, flag, id_column, moment, number, reference, text
from snaglist.kernel.ddl import create_table
from snaglist.plugins.issues import relative_to_data


def s001(db: Connection) -> None:
    """Create all tables of the area."""
    create_table(
        db,
        "connectors",
        id_column(),
        text("name", 100),
        text("name_key", 300),
        text("type", 16),
        flag("enabled"),
        reference("module_id", "modules.id", on_delete="SET NULL"),
        text("timezone", 64),
        number("interval_minutes"),
        document("config"),
        data("secrets", nullable=True),
        document("secrets_set"),
        text("node", 64),
        moment("last_synced_at", nullable=True),
        text("last_status", 16, nullable=True),
        text("last_error", 4000, nullable=True),
        moment("created_at"),
        moment("updated_at"),
        UniqueConstraint("name_key", name="uq_connectors_name_key"),
        Index("ix_connectors_module_id", "module_id"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "streams",
        id_column(),
        reference("connector_id", "connectors.id"),
        text("remote_path"),
        text("path_hash", 64),
        text("identity", 128, nullable=True),
        number("generation"),
        text("local_path", nullable=True),
        reference("source_id", "sources.id", on_delete="SET NULL"),
        number("remote_size"),
        number("fetched_offset"),
        moment("remote_modified_at", nullable=True),
        text("prefix_hash", 64),
        number("prefix_length"),
        moment("last_synced_at", nullable=True),
        moment("created_at"),
        UniqueConstraint("connector_id", "path_hash", "generation", name="uq_streams_path_generation"),
        Index("ix_streams_identity", "connector_id", "identity"),
        Index("ix_streams_source_id", "source_id"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "connector_runs",
        id_column(),
        reference("connector_id", "connectors.id"),
        number("job_id", nullable=True),
        text("status", 16),
        number("files_discovered"),
        number("files_completed"),
        number("files_updated"),
        number("bytes_total"),
        number("bytes_fetched"),
        number("events_indexed"),
        text("current_file", nullable=True),
        text("expected_snapshot", 64, nullable=True),
        text("message", 4000, nullable=True),
        moment("started_at"),
        moment("updated_at"),
        moment("finished_at", nullable=True),
        Index("ix_connector_runs_connector", "connector_id", "started_at"),
        Index("ix_connector_runs_started", "started_at"),
        Index("ix_connector_runs_status", "status"),
        Index("ix_connector_runs_job_id", "job_id"),
        sqlite_autoincrement=True,
    )


def s002(db: Connection) -> None:
    """Store paths in the data directory relative to it: of mirrors, and of files and folders that are read in place."""
    connectors = Table("connectors", MetaData(), Column("id", BigInteger), Column("type", String), document("config"))
    columns = (Column(name, String) for name in ("remote_path", "path_hash", "local_path"))
    streams = Table("streams", MetaData(), Column("id", BigInteger), Column("connector_id", BigInteger), *columns)
    local = {
        row.id: row.config for row in db.execute(select(connectors).where(connectors.c.type == "local")) if row.config
    }
    rows = db.execute(select(streams)).all()
    in_place = [row for row in rows if row.connector_id in local]
    folders = {config["directory"] for config in local.values() if "directory" in config}
    paths = {row.local_path for row in rows if row.local_path} | {row.remote_path for row in in_place} | folders
    # A folder counts as one of its files would: a path has something behind `logs/`.
    moved = relative_to_data(db, sorted({*paths, *(f"{folder}/" for folder in folders)}))
    for row in rows:
        values = {"local_path": moved[row.local_path]} if row.local_path in moved else {}
        if row in in_place and row.remote_path in moved:
            path = moved[row.remote_path]
            values |= {"remote_path": path, "path_hash": digest(path)}
        if values:
            db.execute(update(streams).where(streams.c.id == row.id).values(values))
    for connector_id, config in local.items():
        folder = config.get("directory", "")
        if place := moved.get(folder) or moved.get(f"{folder}/", "").rstrip("/"):
            changed = {**config, "directory": place}
            db.execute(update(connectors).where(connectors.c.id == connector_id).values(config=changed))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))
