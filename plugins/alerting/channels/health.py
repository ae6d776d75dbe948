"""What the page Health tells of channels: those that messages do not get through."""

from collections.abc import Iterator

from sqlalchemy import func, select, true

from snaglist.kernel import Call
from snaglist.plugins.alerting.tables import channels
from snaglist.plugins.system import Problem

SHOWN = 10


def details(call: Call) -> Iterator[Problem]:
    """Give the problems, in the open transaction."""
    failed = select(channels).where(channels.c.enabled == true(), channels.c.last_status == "failed")
    number = int(call.db.scalar(select(func.count()).select_from(failed.subquery())) or 0)
    for row in call.db.execute(failed.order_by(channels.c.name).limit(SHOWN)):
        reason = f": {row.last_error.rstrip('.')}" if row.last_error else ""
        step = "Test the channel, and correct its address."
        yield Problem(f"The channel {row.name} does not deliver{reason}.", step, {"view": "alerts"})
    if number > SHOWN:
        more = number - SHOWN
        told = "1 more channel does" if more == 1 else f"{more:,} more channels do"
        yield Problem(f"{told} not deliver.", "See them.", {"view": "alerts"})
