"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection

from snaglist.plugins.ingest.options import RATES


def s001(db: Connection) -> None:
    """Create the tables of the area."""
    RATES.create_tables(db)


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001),)
