"""Events with odd texts in them are found as others are: alike on the three databases."""

import csv
import io
import json
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.testing import Client

pytestmark = pytest.mark.servers

ODD = {"half": "a\ud800b", "zero": "c\0d", "flag": True, "no": False}


@pytest.fixture
def odd(desk: Any) -> Client:
    """A client of a database with an event whose context no text can hold, and another one."""
    desk.store(Event("Key 7 refused", context=json.dumps(ODD)), Event("Key 8 refused"))
    return Client(desk.service)


def test_what_a_context_holds_is_shown_counted_found_and_exported(odd: Client) -> None:
    (event,) = odd.get("events", id=1, q="7").json["data"]
    assert event["fields"] == {"half": "a\ufffdb", "zero": "c\ufffdd", "flag": "true", "no": "false"}
    for name, value in event["fields"].items():
        assert len(odd.get("events", id=1, value=f"{name}={value}").json["data"]) == 1, name
        assert odd.get("event-values", id=1, value=f"{name}={value}").json["meta"]["events"] == 1, name
    lines = odd.get("events", id=1, format="ndjson").text.splitlines()
    assert json.loads(lines[1])["fields"] == event["fields"] and len(lines) == 2
    rows = list(csv.DictReader(io.StringIO(odd.get("events", id=1, format="csv").text)))
    assert rows[1]["value: half"] == "a\ufffdb"
