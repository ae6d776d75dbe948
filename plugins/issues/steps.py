"""Schema steps of the issues area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection

from snaglist.kernel.columns import metadata
from snaglist.plugins.issues.learning.tables import LATER
from snaglist.plugins.issues.learning.tables import TABLES as LEARNED
from snaglist.plugins.issues.stored_paths import make_relative
from snaglist.plugins.issues.tables import TABLES


def s001(db: Connection) -> None:
    """Create all tables of the area."""
    metadata.create_all(db, tables=TABLES, checkfirst=True)


def s002(db: Connection) -> None:
    """Create the tables of the second stage of grouping."""
    metadata.create_all(db, tables=LEARNED, checkfirst=True)


def s003(db: Connection) -> None:
    """Create the table of templates that could not be learned."""
    metadata.create_all(db, tables=LATER, checkfirst=True)


def s004(db: Connection) -> None:
    """Store paths of files in the data directory relative to it."""
    make_relative(db)


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (
    ("s001", s001),
    ("s002", s002),
    ("s003", s003),
    ("s004", s004),
)
