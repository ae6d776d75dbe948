"""Tables of the logs area. `sources` belongs to the issues area, because every occurrence names its source."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from snaglist.kernel.columns import data, document, id_column, metadata, moment, number, reference, text

# Documents of pushed events; steps of the issues area made these two.
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
    Index("ix_payload_dictionaries_issue_id", "issue_id"),
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

# The ids of pushed events that were deleted: sent again they are duplicates still.
deleted_events = Table(
    "deleted_events",
    metadata,
    text("event_id", 64, primary_key=True),
    number("deletion_id"),
)

TABLES = (payloads, payload_dictionaries, log_deletions, deleted_ranges, deleted_events)
