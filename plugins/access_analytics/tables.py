"""Tables of the area: what was counted per hour, and how far each source was counted."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from snaglist.kernel.columns import data, flag, metadata, moment, number, text

# One row per value of a dimension: the requests of a source in an hour, or in a day that was folded (then `hour` is
# its first). `dim` is `path`, `method`, `status`, `agent`, `system`, `referrer`, `host`, `network`, or `all` with these
# values: "" (all requests), `paths` (the sketch of distinct paths in `visitors`), `malformed`, `not_understood`.
# Requests of scanners have dimensions of their own, `scanner path` and so on: what they try takes no room of others.
# `errors` are statuses from 400 on, `failed` those from 500 on, `missing` 404 alone. The last two are NULL in rows of
# before they were counted, when scanners were not told apart either.
# The last line of a file may still grow: it is counted under the negated id of its source until that is settled.
hours = Table(
    "access_hours",
    metadata,
    number("source_id"),
    moment("hour"),
    text("dim", 16),
    text("value", 300),
    text("value_hash", 64),
    flag("bot"),
    number("hits"),
    number("errors"),
    number("bytes"),
    number("failed", nullable=True),
    number("missing", nullable=True),
    data("visitors", nullable=True),
    data("times", nullable=True),
    PrimaryKeyConstraint("source_id", "hour", "dim", "value_hash", "bot"),
    Index("ix_access_hours_dim_hour", "dim", "hour"),
    Index("ix_access_hours_hour", "hour"),
)

# `position`: lines of the source that begin before this byte were counted.
sources = Table(
    "access_sources",
    metadata,
    number("source_id", primary_key=True, autoincrement=False),
    number("position"),
)

TABLES = (hours, sources)
