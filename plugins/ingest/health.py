"""What the page Health tells of pushed events: what was refused lately."""

from collections.abc import Iterator

from snaglist.kernel import Call
from snaglist.plugins.ingest.options import RATES
from snaglist.plugins.system import Figure, Problem

SECTION = "Sent events, 24 hours"


def details(call: Call) -> Iterator[Figure | Problem]:
    """Give the figures and the problems, in the open transaction."""
    day, view = RATES.last_day(call.db, call.now), {"view": "ingest"}
    yield Figure(SECTION, "Stored", day["accepted"], view=view)
    yield Figure(SECTION, "Sent again", day["duplicate"], view=view)
    if day["invalid"]:
        told = f"{day['invalid']:,} sent events were not understood in the last 24 hours."
        yield Problem(told, "The answers to the senders name the fields.", view)
    if day["rate_limited"]:
        told = f"{day['rate_limited']:,} sent events were over the rate limit in the last 24 hours."
        yield Problem(told, "Send less, or raise the limit in the configuration.", view)
