"""Schema steps of the logs area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection

from snaglist.kernel.columns import metadata
from snaglist.plugins.logs.tables import TABLES


def s001(db: Connection) -> None:
    """Create all tables of the area."""
    metadata.create_all(db, tables=TABLES, checkfirst=True)


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001),)
