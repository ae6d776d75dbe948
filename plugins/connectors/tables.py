"""Tables of the connectors area."""

from sqlalchemy import Index, Table, UniqueConstraint

from snaglist.kernel.columns import data, document, flag, id_column, metadata, moment, number, reference, text

connectors = Table(
    "connectors",
    metadata,
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
    document("secrets_set"),  # which are set, so that showing them opens nothing
    text("node", 64),  # the machine that has its files or mirrors
    moment("last_synced_at", nullable=True),
    text("last_status", 16, nullable=True),
    text("last_error", 4000, nullable=True),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("name_key", name="uq_connectors_name_key"),
    Index("ix_connectors_module_id", "module_id"),
    sqlite_autoincrement=True,  # mirrors lie in a folder that is named by the id
)

# One generation of one remote file. `last_synced_at` is null while bytes are held that were not read.
streams = Table(
    "streams",
    metadata,
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

connector_runs = Table(
    "connector_runs",
    metadata,
    id_column(),
    reference("connector_id", "connectors.id"),
    number("job_id", nullable=True),
    text("status", 16),
    number("files_discovered", default=0),
    number("files_completed", default=0),
    number("files_updated", default=0),
    number("bytes_total", default=0),
    number("bytes_fetched", default=0),
    number("events_indexed", default=0),
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

TABLES = (connectors, streams, connector_runs)
