"""The settled cases of `tests/cases` (framing, timestamps, access) against the built-in parsers."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import AccessLine, Reader

CASES = Path(__file__).parents[3] / "cases"
NOW = "2025-01-01 00:00:00"

# What a case says in words about its source: zone and time of the last change.
GIVEN = {
    "TS-03": ("UTC", "2024-01-02 00:10:00"),
    "TS-04": ("UTC", "2022-03-25 12:00:00"),
    "TS-10": ("Europe/Berlin", "2023-03-27 00:00:00"),
    "TS-15": ("UTC", "2023-07-29 00:10:00"),
    "TS-21": ("Asia/Shanghai", "2024-06-01 00:00:00"),
}


def load(*areas: str) -> list[Any]:
    return list(_load(areas))


def _load(areas: Iterable[str]) -> Iterable[Any]:
    for area in areas:
        for line in (CASES / f"{area}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            if "input" in case or "input_b64" in case:
                yield pytest.param(case, id=case["id"])


def read(data: bytes, zone: str = "UTC", modified_at: str = NOW, **options: Any) -> list[Event]:
    reader = Reader(data, zone=zone, modified_at=modified_at, now=NOW, **options)
    return [*reader.feed(data), *reader.close()]


def data_of(case: dict[str, Any]) -> bytes:
    return base64.b64decode(case["input_b64"]) if "input_b64" in case else case["input"].encode()


def read_case(case: dict[str, Any]) -> list[Event]:
    return read(data_of(case), *GIVEN.get(case["id"], ()))


def case_of(area: str, name: str) -> dict[str, Any]:
    return next(p.values[0] for p in load(area) if p.id == name)  # type: ignore[union-attr]


@pytest.mark.parametrize("case", load("framing", "timestamps"))
def test_entries_levels_and_times(case: dict[str, Any]) -> None:
    checks = case["checks"]
    events = read_case(case)
    seen: dict[str, Any] = {
        "entries": len(events),
        "entries_after_timeout": len(events),
        "levels": [event.severity.lower() for event in events],
        "timestamps_utc": [event.occurred_at for event in events],
        "main_exception": events[0].exceptions[-1].type if events[0].exceptions else None,
        "causes": [exception.type for exception in events[0].exceptions[:-1]],
        "members": [exception.type for exception in events[0].exceptions[:-1]],
        "message": events[0].message,
        "last_entry_level": events[-1].severity.lower(),
        "last_entry_timestamp_utc": events[-1].occurred_at,
        "offset": events[-1].byte_end,
        "first_seen": min(event.occurred_at for event in events),
        "last_seen": max(event.occurred_at for event in events),
    }
    wanted = {name: value for name, value in checks.items() if name in seen}
    if not wanted:
        assert case["id"] in {"FR-11"}  # has a test of its own below
    assert {name: seen[name] for name in wanted} == wanted


@pytest.mark.parametrize("case", load("access"))
def test_access_lines(case: dict[str, Any]) -> None:
    checks = case["checks"]
    events = read_case(case)
    lines = [event.access for event in events]
    parsed = [line for line in lines if isinstance(line, AccessLine)]
    seen: dict[str, Any] = {
        "entries": len(events),
        "levels": [event.severity.lower() for event in events],
        "timestamps_utc": [event.occurred_at for event in events],
        "parsed": len(parsed),
        "lost": len(events) - len(lines),
        "not_understood": sum(1 for event in events if event.family == "access" and event.access is None),
        "malformed": sum(1 for line in parsed if line.malformed),
        "statuses": [line.status for line in parsed],
        "hosts": [line.host for line in parsed],
    }
    if case["id"] == "AC-01":  # AC-08 asks for trusted proxies, which the analytics know
        seen["clients"] = [line.client for line in parsed]
    wanted = {name: value for name, value in checks.items() if name in seen}
    if not wanted:
        assert case["id"] in {"AC-14"} and len(parsed) == 6
    assert {name: seen[name] for name in wanted} == wanted


def test_fr_05_broken_context_is_context_or_text_but_one_entry() -> None:
    first, second = read_case(case_of("framing", "FR-05"))
    assert first.message == "Saving note" and "not.a header" in first.context
    assert second.message == "next"


@pytest.mark.parametrize("name", ["FR-08", "FR-24", "FR-25", "FR-26", "FR-28"])
def test_fr_08_line_ends_change_no_field(name: str) -> None:
    text = case_of("framing", name)["input"].replace("\r\n", "\n")

    def fields(end: str) -> list[tuple[Any, ...]]:
        events = read(text.replace("\n", end).encode())
        return [(e.message, e.severity, e.occurred_at, e.stack, e.context, e.exceptions) for e in events]

    assert fields("\n") == fields("\r\n") == fields("\r")


def test_fr_11_utf_16_in_two_writes() -> None:
    data = data_of(case_of("framing", "FR-11"))
    first = Reader(data[:96], modified_at=NOW, now=NOW)
    one = [*first.feed(data[:96]), *first.close()]
    assert [(e.severity, e.occurred_at, e.byte_end) for e in one] == [("ERROR", "2024-09-02 10:00:00", 96)]
    assert "\u010a" in one[0].message
    second = Reader(data, start=96, modified_at=NOW, now=NOW, log_type=first.log_type, encoding=first.encoding)
    two = [*second.feed(data[96:]), *second.close()]
    assert [(e.severity, e.occurred_at, e.byte_start, e.byte_end) for e in two] == [
        ("INFO", "2024-09-02 10:05:00", 96, 172)
    ]


def test_fr_12_a_hole_of_nul_bytes_is_no_content() -> None:
    line = b"2024-12-11 04:30:15 ERROR disk full on /data\n"
    reader = Reader(bytes(65536), modified_at=NOW, now=NOW)
    events: list[Event] = []
    for _ in range(64):
        events += reader.feed(bytes(1 << 20))
    events += [*reader.feed(line), *reader.close()]
    assert [(e.message, e.byte_start, e.byte_end, e.truncated) for e in events] == [
        ("disk full on /data", 64 << 20, (64 << 20) + len(line), False)
    ]


@pytest.mark.parametrize("filler", ["x", "€"])
def test_fr_16_check_65_a_line_of_ten_mebibytes(filler: str) -> None:
    lines = [
        "2024-06-05 09:00:00 INFO before\n",
        "2024-06-05 09:00:01 ERROR payload " + filler * (10 * 1024 * 1024 // len(filler.encode())) + "\n",
        "2024-06-05 09:00:02 INFO after\n",
    ]
    data = "".join(lines).encode()
    reader = Reader(data[:65536], modified_at=NOW, now=NOW)
    events: list[Event] = []
    for start in range(0, len(data), 65536):
        events += reader.feed(data[start : start + 65536])
    events += reader.close()
    assert [(e.severity, e.truncated) for e in events] == [("INFO", False), ("ERROR", True), ("INFO", False)]
    assert len(events[1].message) == 120000 and set(events[1].message[8:-1]) == {filler}
    assert events[2].message == "after" and events[2].byte_end == len(data)


def test_fr_17_a_trace_of_a_hundred_thousand_lines() -> None:
    text = (
        "2024-10-19 10:00:00,000 ERROR c.a.P: overflow\njava.lang.StackOverflowError\n"
        + "\tat com.acme.P.discount(P.java:51)\n" * 100_000
        + "2024-10-19 10:00:01,000 INFO c.a.P: alive\n"
    )
    first, second = read(text.encode())
    assert (first.severity, first.truncated, second.message) == ("ERROR", True, "alive")
    assert first.exceptions[0].type == "java.lang.StackOverflowError"
    assert 100 < len(first.exceptions[0].frames) < 1000
    assert len(first.stack) <= 120_000 and "lines omitted" in first.stack


def test_fr_17_an_entry_over_the_capture_limit_keeps_its_ends() -> None:
    text = "2024-10-19 10:00:00 ERROR dump\n" + "".join(f"  row {n}\n" for n in range(5000))
    first, second = read((text + "2024-10-19 10:00:01 INFO alive\n").encode(), capture_limit=4096)
    assert first.truncated and "  row 0\n" in first.message and first.message.endswith("row 4999")
    assert "lines omitted" in first.message and second.message == "alive"


def test_fr_20_an_unfinished_part_is_the_open_entry() -> None:
    [event] = read_case(case_of("framing", "FR-20"))
    assert (event.message, event.provisional) == ("warm-up finished", True)


def test_fr_22_glued_objects_have_their_own_bytes() -> None:
    case = case_of("framing", "FR-22")
    events = read_case(case)
    size = len(data_of(case))
    assert [(e.message, e.byte_start, e.byte_end) for e in events] == [("a", 0, 71), ("b", 71, size)]


def test_fr_33_exceptions_of_json_loggers() -> None:
    zero, one, two = read_case(case_of("framing", "FR-33"))
    assert zero.message == "boom" and not zero.exceptions
    assert [e.type for e in one.exceptions] == ["Error", "DatabaseError"]
    assert (one.exceptions[-1].frames[0].file, one.exceptions[-1].frames[0].line) == ("/app/db.js", 10)
    assert two.message == "gone"


def test_fr_37_templates_of_compact_json() -> None:
    zero, one, two = read_case(case_of("framing", "FR-37"))
    assert zero.message == "User 5 failed pay" and zero.template == one.template == "User {UserId} failed {Op}"
    assert zero.exceptions[0].type == "System.InvalidOperationException" and zero.exceptions[0].frames[0].line == 5
    assert two.message == "Ready {Op}" and not two.exceptions


def test_fr_38_pairs_and_tabs() -> None:
    zero, one, two = read_case(case_of("framing", "FR-38"))
    assert (zero.message, zero.log_type) == ('dial "tcp" failed: EOF', "logfmt")
    assert (one.message, one.context, one.stack) == ("handler failed", '{"id": 7}', "main.handle\n\t/app/http.go:41")
    assert two.message == "slow"


def test_ts_18_unusable_times_take_the_nearest() -> None:
    events = read_case(case_of("timestamps", "TS-18"))
    assert {e.occurred_at for e in events} == {"2024-03-01 10:00:00"}
    assert [e.time_source for e in events] == ["event", "file", "file", "file", "file"]


def test_ac_12_fields_of_json_lines() -> None:
    lines = [event.access for event in read_case(case_of("access", "AC-12"))]
    assert all(isinstance(line, AccessLine) for line in lines)
    shown = [(x.path, x.size, x.client, x.agent, x.protocol) for x in lines if isinstance(x, AccessLine)]
    assert shown == [
        ("/api/u", 93, "192.0.2.3", "py/2", "HTTP/1.1"),
        ("/index.html", 0, "192.0.2.44", "UA/1", "HTTP/2"),
    ]


def test_ac_17_columns_change_in_the_middle() -> None:
    lines = [event.access for event in read_case(case_of("access", "AC-17"))]
    shown = [(x.agent, x.duration_ms) for x in lines if isinstance(x, AccessLine)]
    assert shown == [("Mozilla/5.0 (X11)", 15), ("", 3), ("curl", 7)]


def test_ac_20_the_uncaught_exception_is_read() -> None:
    first, second, third = read_case(case_of("access", "AC-20"))
    exception = first.exceptions[-1]
    assert (exception.type, exception.frames[0].file, exception.frames[0].line) == ("Exception", "/srv/a.php", 3)
    assert second.message.startswith("AH00111: ") and "192.0.2.9" in second.context
    assert third.context == ""
