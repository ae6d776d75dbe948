"""Logs as people send them around, `tests/cases/wild.jsonl`: 75 cases in 35 kinds, and what of them is counted.

What they say in words is looked at in `test_cases_in_full.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.logs.parsers import Reader

CASES = Path(__file__).parents[3] / "cases"
MODIFIED_AT, NOW = "2025-02-11 12:00:00", "2026-01-01 00:00:00"
LISTS = {
    "levels": lambda event: event.severity.lower(),
    "timestamps_utc": lambda event: event.occurred_at,
    "exception_types": lambda event: event.exceptions[-1].type if event.exceptions else None,
    "frames": lambda event: sum(len(exception.frames) for exception in event.exceptions),
    "statuses": lambda event: event.access.status if event.access else None,
}


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


WILD = lines_of("wild.jsonl")


def read(case: dict[str, Any]) -> list[Event]:
    data = case["input"].encode()
    reader = Reader(data, modified_at=case.get("modified_at", MODIFIED_AT), now=NOW, channel="till.log")
    return [*reader.feed(data), *reader.close()]


@pytest.mark.parametrize("case", WILD, ids=lambda case: case["id"])
def test_what_is_counted(case: dict[str, Any]) -> None:
    checks, events = dict(case["checks"]), read(case)
    errors = [event for event in events if event.severity in ("EMERGENCY", "ALERT", "CRITICAL", "ERROR")]
    for name, seen in {"entries": len(events), "error_entries": len(errors)}.items():
        if name in checks:
            assert seen == checks.pop(name), name
    for name, value in LISTS.items():
        if name in checks:
            assert [value(event) for event in events] == checks.pop(name), name
    for name, wanted in {"messages_contain": True, "messages_lack": False}.items():
        for event, text in zip(events, checks.pop(name, [None] * len(events)), strict=True):
            assert text is None or (text in event.message) == wanted, (name, text, event.message)
    groups: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        groups.setdefault(grouping_key(event, None).key, []).append(place)
    if "groups" in checks:
        assert list(groups.values()) == checks.pop("groups")
    assert not checks, "a check that nothing looks at"
