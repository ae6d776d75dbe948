"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection

from snaglist.kernel.columns import metadata
from snaglist.plugins.tracker.tables import begun, changes, deliveries, links


def s001(db: Connection) -> None:
    """Create the first tables of the area."""
    metadata.create_all(db, tables=(links, begun, deliveries), checkfirst=True)


def s002(db: Connection) -> None:
    """Create the table of when items were changed last."""
    changes.create(db, checkfirst=True)


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))
