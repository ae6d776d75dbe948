"""What the page Health tells of connectors: those whose last sync failed."""

from collections.abc import Iterator

from snaglist.kernel import Call
from snaglist.plugins.connectors import queries
from snaglist.plugins.system import Problem

SHOWN = 10


def details(call: Call) -> Iterator[Problem]:
    """Give the problems, in the open transaction."""
    failed = queries.failed_connectors(call.db)
    for row in failed[:SHOWN]:
        reason = f": {row.last_error.rstrip('.')}" if row.last_error else ""
        step = "Test the connector, and correct what it needs."
        yield Problem(f"The connector {row.name} could not be read{reason}.", step, {"view": "connector", "id": row.id})
    if len(failed) > SHOWN:
        yield Problem(f"{len(failed) - SHOWN:,} more connectors failed.", "See them.", {"view": "connectors"})
