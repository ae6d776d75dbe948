"""Tables of the logs area: what events came from, the texts of pushed ones, and the memory of deletions.

Steps of the issues area made the first three.
"""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import data, document, flag, id_column, metadata, moment, number, reference, text

sources = Table(
    "sources",
    metadata,
    id_column(),
    text("path"),
    text("path_hash", 64),
    number("generation"),
    text("node", 64),
    text("identity", 128, nullable=True),
    number("size"),
    moment("modified_at", nullable=True),
    number("offset"),
    number("first_byte", default=0),  # of its own: a copy that went on begins where the original ended
    text("prefix_hash", 64),
    number("prefix_length"),
    text("block_hash", 64),
    text("content_hash", 64),
    text("log_type", 40),
    text("channel", 255),
    text("family", 255),
    text("encoding", 32),
    text("timezone", 64),
    reference("module_id", "modules.id", on_delete="SET NULL"),
    number("connector_id", nullable=True),  # the connectors area above clears it; no key, so that it can be absent
    number("parser_version"),
    document("open_event", nullable=True),
    text("read_under", 120, default=""),  # the settings that all of its bytes were read under; empty: several
    document("counted", nullable=True),  # under which settings which bytes were ever counted
    document("reading", nullable=True),  # how many entries were read, and of how many time and level are known
    document("layout", nullable=True),  # where its lines have what, as its reader found it
    text("status", 16),
    text("last_error", 1000, nullable=True),
    number("occurrence_count"),
    moment("imported_at"),
    moment("created_at"),
    UniqueConstraint("path_hash", "generation", name="uq_sources_path_generation"),
    Index("ix_sources_identity", "identity"),
    Index("ix_sources_module_family", "module_id", "family"),
    Index("ix_sources_content_hash", "content_hash"),
    Index("ix_sources_imported_at", "imported_at"),
    Index("ix_sources_family", "family"),
    Index("ix_sources_status", "status", "imported_at"),
)

# Formats of people's own, tried in the order of `position`.
log_formats = Table(
    "log_formats",
    metadata,
    id_column(),
    text("name", 32),
    text("pattern", 2000),
    text("sample"),
    text("zone", 64, nullable=True),
    number("position"),
    flag("enabled"),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("name", name="uq_log_formats_name"),
    sqlite_autoincrement=True,
)

# Documents of pushed events.
payloads = Table(
    "payloads",
    metadata,
    reference("occurrence_id", "occurrences.id", primary_key=True, autoincrement=False),
    text("codec", 16),
    data("body"),
)

payload_dictionaries = Table(
    "payload_dictionaries",
    metadata,
    id_column(),
    reference("issue_id", "issues.id", on_delete="SET NULL"),
    data("body"),
    moment("created_at"),
    # The event that it is the document of; null: not known. No foreign key: it may be gone.
    number("occurrence_id", nullable=True),
    moment("retired_at", nullable=True),  # since then nothing is compressed with it
    Index("ix_payload_dictionaries_issue_id", "issue_id"),
    Index("ix_payload_dictionaries_retired_at", "retired_at"),
)

# What was deleted on purpose: what was asked for, and by whom. No foreign key: the memory outlives what it is about.
log_deletions = Table(
    "log_deletions",
    metadata,
    id_column(),
    text("scope", 10),
    text("day", 10, nullable=True),
    number("source_id", nullable=True),
    number("up_to_offset", nullable=True),
    number("occurrences"),
    text("actor", 200, nullable=True),
    moment("created_at"),
    text("user_name", 200, nullable=True),  # who is to be forgotten, until that is done
    Index("ix_log_deletions_day", "scope", "day"),
    Index("ix_log_deletions_source_id", "source_id"),
    sqlite_autoincrement=True,
)

# What of a source a deletion removed: events that begin in these bytes. Where others were left among them, only those
# of the day; `counted` tells which of the lines there were stored at all (see `counted`), null all that may be.
deleted_ranges = Table(
    "deleted_ranges",
    metadata,
    number("deletion_id"),
    number("source_id"),
    number("byte_start"),
    number("byte_end"),
    text("day", 10, nullable=True),
    document("counted", nullable=True),
    number("occurrences"),
    PrimaryKeyConstraint("deletion_id", "source_id"),
    Index("ix_deleted_ranges_source_id", "source_id"),
)

# Single events of sources that were deleted: where those of somebody began, whoever that was.
deleted_places = Table(
    "deleted_places",
    metadata,
    number("source_id"),
    number("byte_start"),
    number("deletion_id"),
    PrimaryKeyConstraint("source_id", "byte_start"),
    Index("ix_deleted_places_deletion_id", "deletion_id"),
)

# The ids of pushed events that were deleted: sent again they are duplicates still.
deleted_events = Table(
    "deleted_events",
    metadata,
    text("event_id", 64, primary_key=True),
    number("deletion_id"),
)

TABLES = (
    sources,
    log_formats,
    payloads,
    payload_dictionaries,
    log_deletions,
    deleted_ranges,
    deleted_places,
    deleted_events,
)
