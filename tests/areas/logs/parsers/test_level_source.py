"""How the severity of an entry was found is kept with its event."""

from collections.abc import Sequence
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import BUILT_IN, Parser, Reader

NOW = "2026-01-04 00:00:00"


def read(*lines: str, parsers: Sequence[Parser] = BUILT_IN) -> list[tuple[str, str]]:
    """Read a file of these lines; returns severity and source of the level of each entry."""
    data = "".join(line + "\n" for line in lines).encode()
    reader = Reader(data, modified_at=NOW, now=NOW, parsers=parsers)
    return [(event.severity, event.level_source) for event in [*reader.feed(data), *reader.close()]]


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-03 10:00:00 ERROR shop.orders: Order 17 was not sent",
        '{"time": "2026-01-03T10:00:00Z", "level": 50, "msg": "Order 17 was not sent"}',
        'time=2026-01-03T10:00:00Z level=error msg="Order 17 was not sent"',
        "2026/01/03 10:00:00 [error] 17#17: *3 order 17 was not sent",
    ],
)
def test_a_level_that_is_written_in_the_entry(line: str) -> None:
    assert read(line, line) == [("ERROR", "line")] * 2


@pytest.mark.parametrize(
    "line",
    [
        "<27>1 2026-01-03T10:00:00Z shop orders 17 - - Order 17 was sent",
        '{"PRIORITY": "3", "MESSAGE": "Order 17 was sent", "__REALTIME_TIMESTAMP": "1767434400000000"}',
    ],
)
def test_the_priority_of_a_wrapper(line: str) -> None:
    assert read(line, line) == [("ERROR", "wrapper")] * 2


def test_a_level_within_a_wrapper_is_that_of_the_line() -> None:
    line = "<30>1 2026-01-03T10:00:00Z shop orders 17 - - ERROR: Order 17 was not sent"
    assert read(line, line) == [("ERROR", "line")] * 2


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ('10.0.0.7 - - [03/Jan/2026:10:00:00 +0000] "GET /orders HTTP/1.1" 503 17', "ERROR"),
        ('10.0.0.7 - - [03/Jan/2026:10:00:00 +0000] "GET /orders HTTP/1.1" 200 17 "-" "curl/8"', "INFO"),
    ],
)
def test_a_request_has_that_of_its_status(line: str, severity: str) -> None:
    assert read(line, line) == [(severity, "request")] * 2


def test_a_trace_is_a_failure_without_a_level() -> None:
    assert read(
        "2026-01-03 10:00:00 order 17",
        "Traceback (most recent call last):",
        '  File "shop.py", line 17, in send',
        "    parcel.send()",
        "KeyError: 'street'",
    ) == [("ERROR", "trace")]
    assert read('{"time": "2026-01-03T10:00:00Z", "msg": "order 17", "err": {"type": "Late", "message": "gone"}}') == [
        ("ERROR", "trace")
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("2026-01-03 10:00:00 connection refused by the printer", ("ERROR", "words")),
        ("the printer gave a warning", ("WARNING", "words")),
        ("2026-01-03 10:00:00 order was printed", ("INFO", "none")),
        ("the printer is warm", ("INFO", "none")),
    ],
)
def test_words_decide_last(line: str, found: tuple[str, str]) -> None:
    assert read(line) == [found]


class Slips(Parser):
    """The format of a plugin: `slip LEVEL MESSAGE`."""

    log_type = "slips"

    def header(self, line: str) -> list[str] | None:
        parts = line.split(" ", 2)
        return parts if parts[0] == "slip" and len(parts) == 3 else None

    def event(self, header: list[str], lines: Sequence[str], clock: Any) -> Event:
        return Event(header[2], severity=header[1])


def test_what_a_parser_of_a_plugin_gives_is_the_lines() -> None:
    found = read("slip warn order 17", "slip LOUD order 18", "slip LOUD failed", parsers=(*BUILT_IN, Slips()))
    assert found == [("WARNING", "line"), ("INFO", "none"), ("ERROR", "words")]
