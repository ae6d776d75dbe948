"""Tables of the logs area. `sources` belongs to the issues area, because every occurrence names its source."""

from sqlalchemy import Index, Table

from snaglist.kernel.columns import id_column, metadata, moment, number, text

# What was deleted on purpose. A day counts for all files, up to the time of its deletion; a source for its bytes
# up to an offset. No foreign key: the memory outlives what it is about.
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

TABLES = (log_deletions,)
