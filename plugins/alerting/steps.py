"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Column, Connection, MetaData, String, Table, select, update

from snaglist.kernel.columns import metadata
from snaglist.plugins.alerting.tables import TABLES
from snaglist.plugins.issues import relative_to_data


def s001(db: Connection) -> None:
    """Create the tables of the area."""
    metadata.create_all(db, tables=TABLES, checkfirst=True)


def s002(db: Connection) -> None:
    """Let rules look for files of the data directory by the paths that are stored now."""
    rules = Table("alert_rules", MetaData(), Column("source", String))
    named = db.execute(select(rules.c.source).where(rules.c.source.is_not(None)).distinct()).scalars().all()
    for source, path in relative_to_data(db, named).items():
        db.execute(update(rules).where(rules.c.source == source).values(source=path))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))
