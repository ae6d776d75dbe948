"""What the cases of `tests/cases` expect in words, entry by entry: a wrong reading does not pass by its counts.

`read.jsonl` holds for each entry of a case its message, where its time and level come from, and what it has besides.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import AccessLine, Reader

CASES = Path(__file__).parents[3] / "cases"
AREAS = ("framing", "timestamps", "access", "wild")


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]


GIVEN = {case["id"]: case for area in AREAS for case in lines_of(area)}
READ = lines_of("read")


def said(event: Event) -> dict[str, Any]:
    """Return what an event says, without what is as usual."""
    found: dict[str, Any] = {
        "severity": event.severity,
        "occurred_at": event.occurred_at,
        "message": event.message,
        "time_source": event.time_source,
        "level_source": event.level_source,
        "log_type": event.log_type,
    }
    if event.channel != "till.log":
        found["channel"] = event.channel
    if event.server_name:
        found["host"] = event.server_name
    if event.context:
        found["context"] = event.context
    if event.exceptions:
        found["exception"] = event.exceptions[-1].message
        found["files"] = [
            f"{frame.file}:{frame.line}" for exception in event.exceptions for frame in exception.frames if frame.file
        ]
    if isinstance(event.access, AccessLine):
        found["request"] = f"{event.access.method} {event.access.path}"
        found["client"], found["agent"] = event.access.client, event.access.agent
    return found


def read(case: dict[str, Any]) -> list[Event]:
    given = GIVEN[case["id"]]
    data = base64.b64decode(given["input_b64"]) if "input_b64" in given else given["input"].encode()
    modified_at = given.get("modified_at", case["modified_at"])
    reader = Reader(data, zone=case["zone"], modified_at=modified_at, now="2026-01-01 00:00:00", channel="till.log")
    return [*reader.feed(data), *reader.close()]


def test_no_case_is_left_out() -> None:
    assert {case["id"] for case in READ} == {name for name, case in GIVEN.items() if "generate" not in case}


@pytest.mark.parametrize("case", READ, ids=lambda case: case["id"])
def test_what_is_said(case: dict[str, Any]) -> None:
    assert [said(event) for event in read(case)] == case["entries"]
