"""How the severity of an event was found is stored with its occurrence, and answered with it."""

from typing import Any

import pytest

from snaglist.plugins.issues import LEVEL_SOURCES, Event
from snaglist.testing import Client


@pytest.mark.servers
def test_it_is_answered_with_the_occurrence(desk: Any) -> None:
    """One that nobody said stays unknown."""
    sources = [*LEVEL_SOURCES, ""]
    for second, source in enumerate(sources):
        moment = f"2026-01-03 10:00:0{second}"
        desk.store(Event("Order 17 failed", occurred_at=moment, level_source=source, fingerprint="a"))
    client = Client(desk.service)
    (issue,) = client.get("errors").json["data"]
    found = client.get("error", id=issue["id"]).json["occurrences"]
    assert [one["level_source"] for one in reversed(found)] == [*LEVEL_SOURCES, None]
