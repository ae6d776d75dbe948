"""Framing: known entries are found again, however the bytes arrive."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-01-01 00:00:00"

# Entries by format; the first line of each is a complete header.
ENTRIES = {
    "monolog": (
        '[2024-05-01 10:00:00] production.ERROR: Mail bounced {"to":"a@example.com"} []\n',
        "[2024-05-01 10:00:01] local.INFO: all done  \n",
        "[2024-05-01 10:00:02] local.DEBUG: array (\n  'level' => 'ERROR',\n)  \n",
        '[2024-05-01 10:00:03] local.ERROR: declined {"exception":"[object] (App\\\\Gone(code: 0): no at /a.php:8)\n'
        '[stacktrace]\n#0 /b.php(12): run()\n#1 {main}\n"} \n',
        "[2024-05-01 10:00:04] local.ERROR: \n",
    ),
    "console": (
        "2024-05-01 10:00:00 ERROR plain failure\n",
        "2024-05-01 10:00:01,250 INFO  [main] c.v.App: alive, höher und größer\n",
        '2024-05-01 10:00:02 ERROR api: failed\nTraceback (most recent call last):\n  File "/a.py", line 3, in f\n'
        "    raise X\nX: y\n\nDuring handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "/a.py", line 9, in g\n    f()\nY: z\n',
        "2024-05-01 10:00:03 ERROR select\nselect 1 from dual\njava.sql.SQLException: no\n\tat a.B.c(B.java:1)\n"
        "\t... 3 common frames omitted\n",
        "2024-05-01 10:00:04 WARN blank lines follow\n\n\n",
    ),
    "json": (
        '{"level":"error","time":"2024-05-01T10:00:00Z","msg":"a"}\n',
        '{"level":"info","time":"2024-05-01T10:00:01Z","msg":"ünï","x":{"y":[1,2]}}\n',
    ),
    "syslog": (
        "May  1 10:00:00 web1 app[9]: ERROR a\n",
        "May  1 10:00:01 web1 sshd[77]: Failed password for root\n",
        "May  1 10:00:02 web2 job[1]: Traceback (most recent call last):\n"
        'May  1 10:00:02 web2 job[1]:   File "/a", line 1\n',
    ),
    "access": (
        '192.0.2.7 - - [10/Oct/2024:13:55:36 +0000] "GET /a b HTTP/1.1" 200 612 "-" "curl/8.0"\n',
        '192.0.2.7 - - [10/Oct/2024:13:55:37 +0000] "POST /c HTTP/1.1" nonsense\n',
    ),
    "logfmt": (
        'time="2024-05-01T10:00:00Z" level=error msg="dial \\"tcp\\" failed" err="a=b level=info"\n',
        "level=info ts=2024-05-01T10:00:01Z msg=ok\n",
    ),
    "nginx_error": (
        '2024/05/01 10:00:00 [error] 1#0: *5 open() "/x" failed (2: No such file), client: 192.0.2.1, server: s\n',
        "2024/05/01 10:00:01 [notice] 1#0: start\n",
    ),
    "apache_error": (
        "[Wed May 01 10:00:00.000001 2024] [core:warn] [pid 1:tid 2] [client 192.0.2.9:80] AH00111: x\n",
        "[Wed May 01 10:00:01 2024] [error] (13)Permission denied: cannot open\n",
    ),
}

formats = st.sampled_from(sorted(ENTRIES))
mixtures = formats.flatmap(
    lambda name: st.tuples(st.just(name), st.lists(st.sampled_from(ENTRIES[name]), min_size=1, max_size=12))
)


def feed(data: bytes, cuts: Sequence[int], sample: bytes | None = None) -> list[Event]:
    reader = Reader(data if sample is None else sample, modified_at=NOW, now=NOW)
    events: list[Event] = []
    start = 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        events += reader.feed(data[start:cut])
        start = cut
    return events + reader.close()


def whole(events: Sequence[Event]) -> list[Event]:
    for event in events:
        event.provisional = False
    return list(events)


@given(mixtures, st.lists(st.integers(min_value=0), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_entries_are_framed_back_under_every_chunking(
    mixture: tuple[str, list[str]], cuts: list[int], end: str
) -> None:
    name, texts = mixture
    parts = [text.replace("\n", end).encode() for text in texts]
    data = b"".join(parts)
    events = feed(data, cuts)
    starts, position = [], 0
    for part in parts:
        starts.append(position)
        position += len(part)
    assert [event.byte_start for event in events] == starts
    assert [event.byte_end for event in events] == [*starts[1:], len(data)]
    assert {event.log_type for event in events} == {name}
    assert whole(events) == whole(feed(data, []))


@given(st.lists(st.sampled_from(ENTRIES["console"]), min_size=1, max_size=4), st.sampled_from(["utf-16", "utf-8-sig"]))
def test_encodings_give_the_same_events(texts: list[str], encoding: str) -> None:
    text = "".join(texts)
    data = text.encode(encoding)
    events = feed(data, range(len(data)) if len(data) < 400 else [7, 8, 9, 101])
    plain = feed(text.encode(), [])
    assert [(e.message, e.stack, e.occurred_at) for e in events] == [(e.message, e.stack, e.occurred_at) for e in plain]
    assert events[-1].byte_end == len(data)
    assert all(before.byte_end == after.byte_start for before, after in pairwise(events))


@given(st.binary(max_size=400), st.lists(st.integers(min_value=0), max_size=6))
def test_any_bytes_are_read_without_failure_and_without_overlap(data: bytes, cuts: list[int]) -> None:
    events = feed(data, cuts)
    assert whole(events) == whole(feed(data, []))
    position = 0
    for event in events:
        assert position <= event.byte_start < event.byte_end <= len(data)
        position = event.byte_end


def test_a_format_change_opens_entries_of_the_other_format() -> None:
    data = (
        "".join(ENTRIES["monolog"][:2])
        + ENTRIES["json"][0]
        + ENTRIES["console"][0]
        + "  2024-05-01 10:00:00 ERROR in\n"
    )
    events = feed(data.encode(), [])
    assert [e.log_type for e in events] == ["monolog", "monolog", "json", "console"]
    assert events[-1].message.endswith("ERROR in")


def test_a_file_that_begins_within_a_trace_is_claimed_by_its_first_header() -> None:
    data = '#4 /srv/a.php(1): x()\n#5 {main}\n"} \n' + ENTRIES["monolog"][0]
    reader = Reader(data.encode(), modified_at=NOW, now=NOW)
    events = [*reader.feed(data.encode()), *reader.close()]
    assert reader.log_type == "monolog" and len(events) == 2 and events[1].message == "Mail bounced"


def test_lines_without_headers_are_entries_of_their_own() -> None:
    data = b"first line\nsecond line\n  with more\nthird line\n"
    events = feed(data, [])
    assert [e.message for e in events] == ["first line", "second line\n  with more", "third line"]
    assert {(e.occurred_at, e.time_source) for e in events} == {(NOW, "file")}


def test_a_date_within_a_message_opens_nothing() -> None:
    data = "2024-05-01 10:00:00 ERROR report:\n2024-04-30 12:00:00 | 13\n2024-05-01 10:00:05 INFO ok\n"
    assert [e.message for e in feed(data.encode(), [])] == ["report:\n2024-04-30 12:00:00 | 13", "ok"]


def test_lines_without_level_between_lines_with_one_are_entries() -> None:
    data = "2024/09/17 10:00:00 ERROR: pool closed\n2024/09/17 10:00:01 starting\n"
    assert [e.message for e in feed(data.encode(), [])] == ["pool closed", "starting"]


def test_a_crash_after_a_quiet_line_is_an_entry() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\nKeyError: 1\n'
    data = "2024-05-01 10:00:00 INFO starting\n" + trace
    first, second = feed(data.encode(), [])
    assert (first.severity, second.severity, second.message) == ("INFO", "ERROR", "KeyError: 1")
    assert (second.occurred_at, second.time_source) == (first.occurred_at, "file")


def test_container_lines_of_two_streams_are_joined_apart() -> None:
    data = (
        "2024-05-01T10:00:00.1Z stdout P ERROR one \n"
        "2024-05-01T10:00:00.2Z stderr F WARN two\n"
        "2024-05-01T10:00:00.3Z stdout F and a half\n"
    )
    events = feed(data.encode(), [])
    assert [(e.message, e.byte_start) for e in events] == [("one and a half", 0), ("two", 43)]


def test_indented_syslog_lines_are_entries() -> None:
    data = "May  1 10:00:00 web1 kernel: map:\nMay  1 10:00:00 web1 kernel:   row\n"
    assert [e.message for e in feed(data.encode(), [])] == ["map:", "row"]


def test_wrapped_traces_are_one_entry() -> None:
    lines = ["Traceback (most recent call last):", '  File "/a.py", line 1, in f', "KeyError: 1"]
    data = "".join(f"May  1 10:00:00 web1 app[9]: {line}\n" for line in lines)
    [event] = feed(data.encode(), [])
    assert event.exceptions[0].type == "KeyError" and event.channel == "app" and event.severity == "ERROR"


@pytest.mark.parametrize("junk", ["\x1b[31m", "\0", "\ufeff"])
def test_colours_and_marks_are_no_content(junk: str) -> None:
    data = f"2024-05-01 10:00:00 ERROR disk {junk}full\n"
    [event] = feed(data.encode(), [])
    assert (event.message, event.byte_end) == ("disk full", len(data.encode()))


def test_a_line_in_another_encoding_is_shown_in_the_fallback() -> None:
    [event] = feed("2024-05-01 10:00:00 ERROR größer\n".encode("latin-1"), [])
    assert event.message == "größer"


def test_a_resumed_reader_goes_on_where_the_first_stopped() -> None:
    data = "".join(ENTRIES["console"]).encode()
    expected = feed(data, [])
    for event in expected[1:]:
        start = event.byte_start
        reader = Reader(data, start=start, modified_at=NOW, now=NOW, log_type="console", encoding="utf-8")
        rest = [*reader.feed(data[start:]), *reader.close()]
        assert whole(rest) == whole([e for e in expected if e.byte_start >= start])


def test_complete_is_the_byte_up_to_which_everything_was_handed_out() -> None:
    data = "".join(ENTRIES["console"][:2]).encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    [first] = reader.feed(data)
    assert reader.complete == first.byte_end
    [second] = reader.close()
    assert second.provisional and not first.provisional


TIMES_ONLY = (
    b"2024-05-01 10:00:00 connection refused by peer\n",
    b"2024-05-01 10:00:01 all is well\n",
    b"2024-05-01 10:00:04 WARN low disk\n",
    b"2024-05-01 10:00:05 connection refused by peer\n",
    b"2024-05-01 10:00:09 ERROR out of space\n",
)


@pytest.mark.parametrize("known", range(len(TIMES_ONLY)))
def test_a_line_with_a_time_only_opens_an_entry_whatever_times_the_sample_showed_later(known: int) -> None:
    """The reader looks at the sample first; the times seen there say nothing of where the entries begin."""
    data, start = b"".join(TIMES_ONLY), sum(map(len, TIMES_ONLY[:known]))
    reader = Reader(data, start=start, modified_at=NOW, now=NOW)
    events = [*reader.feed(data[start:]), *reader.close()]
    severities = ["ERROR", "INFO", "WARNING", "ERROR", "ERROR"]
    assert [data[event.byte_start : event.byte_end] for event in events] == list(TIMES_ONLY[known:])
    assert [event.severity for event in events] == severities[known:]
    assert {event.time_source for event in events} == {"event"}
