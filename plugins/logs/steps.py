"""Schema steps of the logs area: append only, a step never changes after release."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    func,
    insert,
    select,
)

from snaglist.kernel import times
from snaglist.kernel.columns import document, flag, id_column, moment, number, text
from snaglist.kernel.ddl import add_column, add_index, create_table

CHUNK = 500


def s001(db: Connection) -> None:
    """Create the first table of the area."""
    create_table(
        db,
        "log_deletions",
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


def s002(db: Connection) -> None:
    """Remember deletions by what they removed of each source; before, a day was closed for all files."""
    create_table(
        db,
        "deleted_ranges",
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
    create_table(db, "deleted_events", text("event_id", 64, primary_key=True), number("deletion_id"))
    deletions = _table("log_deletions", "id source_id up_to_offset occurrences", "scope day created_at")
    ranges = _table("deleted_ranges", "deletion_id source_id byte_start byte_end occurrences", "day")
    done = set(db.execute(select(ranges.c.deletion_id)).scalars())
    for row in db.execute(select(deletions).order_by(deletions.c.id)).all():
        if row.id in done:
            continue
        ends = _of_day(db, row) if row.scope == "date" else {row.source_id: row.up_to_offset}
        found = [
            {
                "deletion_id": row.id, "source_id": source_id, "byte_start": 0, "byte_end": end, "day": row.day,
                "occurrences": 0 if row.day else row.occurrences,
            }
            for source_id, end in ends.items()
            if end
        ]  # fmt: skip
        if found:
            db.execute(insert(ranges), found)


def _of_day(db: Connection, deletion: Any) -> dict[int, int]:
    """Return, by source, up to where lines of the day were deleted of what was known then.

    That is what was read until now, up to the first line of the day that is stored: it came after the deletion.
    """
    sources = _table("sources", "id offset", "log_type created_at modified_at")
    start, end = f"{deletion.day} 00:00:00", times.add(f"{deletion.day} 00:00:00", days=1)
    rows = select(sources.c.id, sources.c.offset).where(
        sources.c.log_type != "http",
        sources.c.created_at <= deletion.created_at,
        func.coalesce(sources.c.modified_at, end) >= start,
    )
    ends = {row.id: row.offset for row in db.execute(rows)}
    for source_id, byte_start in _first_left(db, start, end):
        if source_id in ends:
            ends[source_id] = min(ends[source_id], byte_start)
    return ends


def _first_left(db: Connection, start: str, end: str) -> Iterable[tuple[int, int]]:
    hours = _table("event_hours", "issue_id", "hour")
    events = _table("occurrences", "issue_id source_id byte_start", "occurred_at")
    of_day = select(hours.c.issue_id).where(hours.c.hour >= start, hours.c.hour < end).distinct()
    issue_ids = list(db.execute(of_day).scalars())
    first = select(events.c.source_id, func.min(events.c.byte_start)).group_by(events.c.source_id)
    first = first.where(events.c.occurred_at >= start, events.c.occurred_at < end)
    for some in range(0, len(issue_ids), CHUNK):
        for row in db.execute(first.where(events.c.issue_id.in_(issue_ids[some : some + CHUNK]))):
            yield row[0], row[1]


def _table(name: str, numbers: str, texts: str) -> Table:
    """Return a table with the columns that a step needs: it may have others when the step runs."""
    columns = [Column(one, BigInteger) for one in numbers.split()] + [Column(one, String) for one in texts.split()]
    return Table(name, MetaData(), *columns)


def add_reading(db: Connection) -> None:
    """Keep with a source how it is read: the numbers of its entries, and the layout of its lines."""
    add_column(db, "sources", document("reading", nullable=True))
    add_column(db, "sources", document("layout", nullable=True))


def add_log_formats(db: Connection) -> None:
    """Create the table of formats that people make for their logs."""
    create_table(
        db,
        "log_formats",
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


def add_forgetting(db: Connection) -> None:
    """Remember single events that were deleted, and which event a dictionary is the document of."""
    create_table(
        db,
        "deleted_places",
        number("source_id"),
        number("byte_start"),
        number("deletion_id"),
        PrimaryKeyConstraint("source_id", "byte_start"),
        Index("ix_deleted_places_deletion_id", "deletion_id"),
    )
    add_column(db, "log_deletions", text("user_name", 200, nullable=True))
    add_column(db, "payload_dictionaries", number("occurrence_id", nullable=True))
    add_column(db, "payload_dictionaries", moment("retired_at", nullable=True))
    add_index(db, "payload_dictionaries", Index("ix_payload_dictionaries_retired_at", "retired_at"))


def add_status_index(db: Connection) -> None:
    """Find the few sources that were not read lately, however many there are, and however many are gone."""
    add_index(db, "sources", Index("ix_sources_status", "status", "imported_at"))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (
    ("s001", s001),
    ("s002", s002),
    ("add_reading", add_reading),
    ("add_log_formats", add_log_formats),
    ("add_forgetting", add_forgetting),
    ("add_status_index", add_status_index),
)
