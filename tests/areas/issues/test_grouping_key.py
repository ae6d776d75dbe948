"""The grouping key, and the `groupings` object that shows it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues.events import AccessInfo, Event, ExceptionInfo, Frame
from snaglist.plugins.issues.grouping import VERSION, grouping_key

CASES = [
    json.loads(line)
    for line in Path(__file__).parents[2].joinpath("cases", "grouping.jsonl").read_text("utf-8").splitlines()
]


def event(fields: dict[str, Any]) -> Event:
    """Return the event of a case: exceptions are `[type, message, [[function, file], …]]`."""
    exceptions = [
        ExceptionInfo(
            kind, message, [Frame(function, file, number + 1) for number, (function, file) in enumerate(frames)]
        )
        for kind, message, frames in fields.get("exceptions", ())
    ]
    return Event(**{**fields, "exceptions": exceptions})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_settled_cases(case: dict[str, Any]) -> None:
    """The settled grouping cases, as events that a parser makes of them."""
    groups: dict[str, list[int]] = {}
    for number, fields in enumerate(case["events"]):
        groups.setdefault(grouping_key(event(fields), None).fingerprint, []).append(number)
    assert list(groups.values()) == case["groups"]


def test_key_and_parts_of_an_exception() -> None:
    """Key text and parts as the contract shows them."""
    frames = [Frame("charge", "app/orders.py", 42)]
    found = grouping_key(Event("late", exceptions=[ExceptionInfo("GatewayTimeout", "late", frames)]), 1)
    assert found.key == "1|text|GatewayTimeout@charge:app/orders.py"
    assert found.parts == {
        "module": 1,
        "family": "text",
        "exceptions": [{"class": "GatewayTimeout", "frames": ["charge:app/orders.py"]}],
        "template": None,
        "custom": None,
    }
    assert found.version == VERSION == 3
    assert re.fullmatch("[0-9a-f]{64}", found.fingerprint)


def test_key_and_parts_of_text_access_and_own_value() -> None:
    """The other rows of the table; parts are JSON."""
    text = grouping_key(Event("Order 4711 failed"), None)
    assert (text.key, text.parts["template"]) == ("-|text||Order <*> failed", "Order <*> failed")
    line = Event("x", family="access", access=AccessInfo("GET", "/orders/42/items?page=2", 500))
    access = grouping_key(line, 3)
    assert access.key == "3|access|GET /orders/{id}/items 500"
    assert access.parts["access"] == {"method": "GET", "path": "/orders/{id}/items", "status": 500}
    own = grouping_key(Event("x", fingerprint="checkout|7", exceptions=[ExceptionInfo("E")]), 3)
    assert (own.key, own.parts["custom"], own.parts["exceptions"]) == ("3|custom|checkout|7", "checkout|7", [])
    for found in (text, access, own):
        json.dumps(found.parts)


def test_what_is_never_part_of_the_key() -> None:
    """Severity, environment, channel, release, host, time and context do not count."""
    base = Event("Order 1 failed")
    changes: list[dict[str, Any]] = [
        {"severity": "DEBUG"},
        {"environment": "staging"},
        {"channel": "app.log"},
        {"log_type": "syslog"},
        {"release": "v2"},
        {"server_name": "web-2"},
        {"occurred_at": "2026-01-01 00:00:00"},
        {"context": '{"order": 1}'},
        {"stack": "at x"},
        {"tags": ("a",)},
        {"event_id": "e1"},
        {"byte_start": 7},
        {"truncated": True},
        {"provisional": True},
    ]
    for change in changes:
        assert grouping_key(replace(base, **change), 1).key == grouping_key(base, 1).key
    assert grouping_key(base, 2).key != grouping_key(base, 1).key
    assert grouping_key(replace(base, family="other"), 1).key != grouping_key(base, 1).key


def test_the_loggers_own_template_is_used() -> None:
    """A message template given by the logger takes the place of the masked message."""
    one = Event("Hello anna", template="Hello {User}")
    assert grouping_key(one, 1).key == grouping_key(replace(one, message="Hello ben"), 1).key
    assert grouping_key(one, 1).key == "1|text||Hello {User}"


def test_access_paths_collapse_ids() -> None:
    """Numeric, UUID, hash and date segments, queries and parameters."""
    paths = [
        "/a/42/b",
        "/a/3f2504e0-4f89-41d3-9a0c-0305e82c3301/b",
        "/a/9fceb02d1/b?x=1",
        "/a/2024-05-01/b;s=1",
        "/a/%34%32/b",
    ]
    keys = {grouping_key(Event("x", family="access", access=AccessInfo("GET", path, 500)), 1).key for path in paths}
    assert keys == {"1|access|GET /a/{id}/b 500"}
    assert grouping_key(Event("x", family="access", access=AccessInfo("GET", "/v2/users", 500)), 1).key.endswith(
        "/v2/users 500"
    )


def test_message_and_exception_text_both_count_without_frames() -> None:
    """An exception without frames is grouped by its class chain and what was said."""

    def of(message: str, kind: str, raised: str) -> str:
        return grouping_key(Event(message, exceptions=[ExceptionInfo(kind, raised)]), 1).key

    assert of("sync failed", "E", "timed out after 3 s") == of("sync failed", "E", "timed out after 40 ms")
    assert len({of("sync failed", "E", "late"), of("import failed", "E", "late"), of("sync failed", "F", "late")}) == 3
    assert of("late", "E", "late") == of("late", "E", "")
