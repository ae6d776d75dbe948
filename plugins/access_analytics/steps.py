"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection, Index, PrimaryKeyConstraint

from snaglist.kernel.columns import data, flag, moment, number, text
from snaglist.kernel.ddl import add_column, create_table


def s001(db: Connection) -> None:
    """Create the tables of the area."""
    create_table(
        db,
        "access_hours",
        number("source_id"),
        moment("hour"),
        text("dim", 16),
        text("value", 300),
        text("value_hash", 64),
        flag("bot"),
        number("hits"),
        number("errors"),
        number("bytes"),
        data("visitors", nullable=True),
        data("times", nullable=True),
        PrimaryKeyConstraint("source_id", "hour", "dim", "value_hash", "bot"),
        Index("ix_access_hours_dim_hour", "dim", "hour"),
        Index("ix_access_hours_hour", "hour"),
    )
    create_table(db, "access_sources", number("source_id", primary_key=True, autoincrement=False), number("position"))


def s002(db: Connection) -> None:
    """Tell errors of the server and missing pages from other errors."""
    add_column(db, "access_hours", number("failed", nullable=True))
    add_column(db, "access_hours", number("missing", nullable=True))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))
