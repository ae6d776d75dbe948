"""Dates at the ends of the calendar, wherever a request may hold one: 422 or an answer, never a failure."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.kernel.endpoints import METHODS
from snaglist.kernel.service import Service
from snaglist.testing import Client

DATES = ("9999-12-31", "9999-12-30", "0001-01-01", "0001-01-02")
TIMES = (
    "9999-12-31 23:59:59", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59+23:59", "9999-12-31T23:00:00Z",
    "0001-01-01 00:00:00", "0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00-23:59", "0001-01-01T00:59:59Z",
)  # fmt: skip
FORMS = {"date": DATES, "moment": DATES + TIMES, "timestamp": TIMES}


def dated(service: Service, part: str) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Give every operation whose query or body takes dates: endpoint, method and the formats by field."""
    for (name, (endpoint, _)), method in itertools.product(sorted(service.endpoints().items()), METHODS):
        found = service.schemas.find(endpoint.schemas, name, method, part) if endpoint.operation(method) else None
        if found:
            properties = found.contents.get("properties", {})
            nodes = {field: found._resolve(node, found._root)[0] for field, node in properties.items()}
            fields = {field: str(node["format"]) for field, node in nodes.items() if node.get("format") in FORMS}
            if fields:
                yield name, method, fields


@pytest.fixture
def everything(client: Client) -> Client:
    """A client of a service where each plugin is on and there is an issue."""
    for plugin in client.get("plugins").json["data"]:
        client.post("plugins", {"id": plugin["id"], "enabled": True})
    assert client.post("issues", {"title": "Broken"}).status == 201
    return client


def test_the_fields_that_hold_dates(sqlite_service: Service) -> None:
    queries = {(name, field) for name, _, fields in dated(sqlite_service, "query") for field in fields}
    bodies = {(name, field) for name, _, fields in dated(sqlite_service, "body") for field in fields}
    assert queries >= {("access-analytics", "from"), ("errors", "date"), ("log-deletion-preview", "date")}
    assert bodies >= {("bulk-issues", "until"), ("delete-logs", "date"), ("deploys", "deployed_at")}


@pytest.mark.servers
def test_queries(everything: Client) -> None:
    """Each alone, and the farthest in pairs: ranges."""
    for name, _, fields in dated(everything.service, "query"):
        for field, form in fields.items():
            for value in FORMS[form]:
                answer = everything.get(name, **{field: value})
                assert answer.status in (200, 422), (name, field, value, answer.text)
        for one, other in itertools.permutations(fields, 2):
            for start, end in itertools.product(("0001-01-01", "9999-12-31", *TIMES[::4]), repeat=2):
                answer = everything.get(name, **{one: start, other: end})
                assert answer.status in (200, 422), (name, one, start, other, end, answer.text)


def test_a_window_at_the_end_is_empty(everything: Client) -> None:
    for start, end in (("9999-12-30", "9999-12-31"), ("0001-01-01", "0001-01-02"), ("9999-12-31", TIMES[0])):
        report = everything.get("access-analytics", **{"from": start, "to": end}).json
        assert (report["total"], report["from"][:10], len(report["by_day"]) <= 2) == (0, start, True)
        assert all(times.is_time(row["hour"]) for row in report["by_hour"])
    preview = everything.get("log-deletion-preview", date="9999-12-31")
    assert (preview.status, preview.json["occurrences"]) == (200, 0)


FILLED: dict[str, dict[str, Any]] = {
    "bulk-issues": {"action": "snooze", "ids": [1]},
    "delete-logs": {"confirmation": "DELETE LOGS"},
    "deploys": {"version": "1.0"},
}


@pytest.mark.servers
def test_bodies(everything: Client) -> None:
    for name, method, fields in dated(everything.service, "body"):
        for field, form in fields.items():
            for value in FORMS[form]:
                answer = everything.send(method.upper(), name, {**FILLED[name], field: value}, {})
                assert answer.status in (200, 201, 202, 422), (name, field, value, answer.text)
    for value in DATES + TIMES:
        for field in ("date", "from", "to"):
            body = {"action": "unsnooze", "filter": {field: value}}
            assert everything.post("bulk-issues", body).status in (200, 202, 422), (field, value)
    for api, query in (("errors", {}), ("deploys", {}), ("alert-events", {}), ("summary", {}), ("error", {"id": 1})):
        assert everything.get(api, **query).status == 200, api


@pytest.mark.servers
def test_pushed_events(everything: Client) -> None:
    """What is no time of an event is the time of its arrival; it is stored whatever its sender's clock says."""
    key = everything.post("ingest-settings", {"action": "regenerate"}).json["key"]
    stamps = [*DATES, *TIMES, 253402300799, 253402300799999, -62135596800, 1e308, -1e308, 10**18]
    events = [{"message": "Disk is full", "level": "error", "timestamp": stamp} for stamp in stamps]
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    answer = everything.request("POST", "/?api=ingest", json.dumps(events).encode(), headers)
    assert (answer.status, answer.json["accepted"]) == (202, len(events)), answer.text
    (issue,) = everything.get("errors", origin="ingested").json["data"]
    assert issue["count"] == len(events)
    assert "1970" <= issue["first_seen"] <= issue["last_seen"] <= times.add(times.now(), days=2)


@given(
    st.sampled_from([times.FIRST, times.LAST, "2026-01-03 10:00:00"]),
    st.floats(-1e300, 1e300),
    st.floats(-1e300, 1e300),
)
def test_a_moved_time_stays_in_the_calendar(text: str, days: float, seconds: float) -> None:
    assert times.is_time(times.add(text, days=days))
    assert times.is_time(times.add(text, seconds=seconds))
    assert times.add(text, seconds=abs(seconds)) >= text >= times.add(text, seconds=-abs(seconds))


@given(st.floats(-1e300, 1e300) | st.integers(-(2**63), 2**63))
def test_every_stamp_of_a_file_is_a_time(seconds: float) -> None:
    assert times.is_time(times.of_file(seconds))
