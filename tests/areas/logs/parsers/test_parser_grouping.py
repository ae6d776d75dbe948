"""The settled cases of grouping from their bytes to their groups: parsers, key and learning together."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import Event, GroupingModel, grouping_key
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-01-01 00:00:00"
CASES = [
    json.loads(line)
    for line in Path(__file__).parents[3].joinpath("cases", "grouping-inputs.jsonl").read_text("utf-8").splitlines()
]


def read(text: str) -> list[Event]:
    data = text.encode()
    reader = Reader(data, zone="UTC", modified_at=NOW, now=NOW)
    return [*reader.feed(data), *reader.close()]


def grouped(events: Sequence[Event]) -> list[list[int]]:
    """Return the numbers of the events by group."""
    keys = [grouping_key(event, None) for event in events]
    model = GroupingModel()
    model.add(keys)
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(model.group(key), []).append(number)
    return list(groups.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_settled_cases(case: dict[str, Any]) -> None:
    events = read(case["input"])
    seen = {
        "entries": len(events),
        "groups": grouped(events),
        "groups_of_error_entries": grouped([event for event in events if event.severity == "ERROR"]),
        "main_exception_each": [event.exceptions[-1].type if event.exceptions else None for event in events],
    }
    checks = case["checks"]
    assert checks and checks.keys() <= seen.keys()
    assert {name: seen[name] for name in checks} == checks


def test_all_cases_are_here() -> None:
    """GR-31, whose texts are generated, is tested with the template."""
    assert len(CASES) == 22
