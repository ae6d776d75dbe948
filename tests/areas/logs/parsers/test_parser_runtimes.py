"""Lines of runtimes, frameworks and services in their documented forms."""

import json

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2024-06-01 00:00:00"


def read(text: str) -> list[Event]:
    data = text.encode()
    reader = Reader(data, zone="UTC", modified_at=NOW, now=NOW)
    return [*reader.feed(data), *reader.close()]


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("UTC", "2024-05-01 10:00:00"),
        ("Europe/Berlin", "2024-05-01 08:00:00"),
        ("America/Argentina/Buenos_Aires", "2024-05-01 13:00:00"),
        ("Mars/Base", "2024-05-01 10:00:00"),  # nobody's zone: that of the source
    ],
)
def test_php_stamps_name_their_zone(zone: str, time: str) -> None:
    """PHP writes the name of its time zone into each stamp; it is no part of the message."""
    first, second = read(
        f"[01-May-2024 10:00:00 {zone}] PHP Warning:  Undefined variable $x in /srv/a.php on line 3\n"
        f"[01-May-2024 10:00:00 {zone}] PHP Notice:  y in /srv/b.php on line 4\n"
    )
    assert (first.severity, first.occurred_at, first.time_source) == ("WARNING", time, "event")
    assert first.message == "PHP Warning:  Undefined variable $x in /srv/a.php on line 3"
    assert (second.severity, second.occurred_at) == ("NOTICE", time)


def test_progress_of_queue_workers() -> None:
    """Issue text, deliverable 1: dotted progress lines, each an entry although it is indented."""
    events = read(
        "  2024-05-01 10:00:03 App\\Jobs\\Sync ................................ RUNNING\n"
        "  2024-05-01 10:00:04 App\\Jobs\\Sync .......................... 12.34ms DONE\n"
        "  2024-05-01 10:01:05 App\\Jobs\\Sync ............................ 1m 1s FAIL\n"
        "  2024-05-01 10:01:06 App\\Jobs\\Sync .............................. 61s FAIL\n"
    )
    assert [(event.severity, event.occurred_at[-8:], event.message) for event in events[:2]] == [
        ("INFO", "10:00:03", "App\\Jobs\\Sync RUNNING"),
        ("INFO", "10:00:04", "App\\Jobs\\Sync 12.34ms DONE"),
    ]
    assert [event.severity for event in events[2:]] == ["ERROR", "ERROR"]


def test_older_queue_workers() -> None:
    """The id of the job is no part of the message, and a failed job is an error."""
    events = read(
        "[2024-05-01 10:00:00][a1B2c3] Processing: App\\Jobs\\Send\n"
        "[2024-05-01 10:00:01][a1B2c3] Failed:     App\\Jobs\\Send\n"
        "[2024-05-01 10:00:02][77] Processed:  App\\Jobs\\Send\n"
    )
    assert [event.severity for event in events] == ["INFO", "ERROR", "INFO"]
    assert events[1].message == "Failed:     App\\Jobs\\Send"


@pytest.mark.parametrize(
    "names",
    ["[main] o.s.b.A", "[nio-8080-exec-12] o.s.b.A  ", "[app] [           main] [a1-b2] o.s.b.A", "[m] o.C.[.[h].[/]"],
)
def test_thread_and_logger_of_spring(names: str) -> None:
    first, second = read(
        f"2024-05-01T10:00:00.123+02:00  INFO 123 --- {names}                : Started [x] in 3 s\n"
        f"2024-05-01T10:00:00.123+02:00 ERROR 123 --- {names} : boom\n"
    )
    assert (first.message, second.message) == ("Started [x] in 3 s", "boom")


@pytest.mark.parametrize("head", ["ERROR:app:handler broke", "ERROR:    Exception in ASGI application"])
def test_a_traceback_below_a_line_without_time_is_its_own(head: str) -> None:
    trace = 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    x()\nValueError: bad\n'
    info = head.split(":")[0].replace("ERROR", "INFO") + head[5:].replace("broke", "fine").replace("Exception", "Calm")
    events = read(f"{info}\n{head}\n{trace}{info}\n{trace}")
    assert [(event.severity, len(event.exceptions)) for event in events] == [
        ("INFO", 0),
        ("ERROR", 1),
        ("INFO", 0),
        ("ERROR", 1),  # below a line that is no error it is one of its own
    ]


def test_a_panic_that_a_web_server_caught() -> None:
    """net/http logs it with a time, and goes on."""
    first, second = read(
        "2024/05/01 10:00:00 http: panic serving 10.0.0.1:5: runtime error: index out of range [3] with length 1\n"
        "goroutine 18 [running]:\n"
        "net/http.(*conn).serve.func1()\n\t/usr/local/go/src/net/http/server.go:1825 +0xbf\n"
        "main.handler({0x7f, 0x1}, 0xc000)\n\t/app/main.go:12 +0x1d\n"
        "2024/05/01 10:00:01 next\n"
    )
    [exception] = first.exceptions
    assert (exception.type, exception.message) == ("panic", "runtime error: index out of range [3] with length 1")
    assert [(frame.function, frame.in_app) for frame in exception.frames] == [
        ("net/http.(*conn).serve.func1", False),
        ("main.handler", True),
    ]
    assert second.message == "next"


@pytest.mark.parametrize(
    ("level", "severity"), [("DEBUG-4", "DEBUG"), ("INFO+2", "INFO"), ("WARN+1", "WARNING"), ("ERROR+4", "ERROR")]
)
def test_levels_between_the_named_ones(level: str, severity: str) -> None:
    """slog writes the distance to the next named level below."""
    [event] = read(json.dumps({"time": "2024-05-01T10:00:00Z", "level": level, "msg": "hi"}) + "\n")
    assert (event.severity, event.message, event.context) == (severity, "hi", "")


def test_entries_of_cloud_logging() -> None:
    """A time as an object of seconds, and the text or object that is the payload."""
    text, structured = read(
        '{"severity":"CRITICAL","timestamp":{"seconds":1714557600,"nanos":3},"textPayload":"oh no"}\n'
        '{"severity":"WARNING","timestamp":"2024-05-01T10:00:01Z","jsonPayload":{"message":"inner","code":3}}\n'
    )
    assert (text.message, text.severity, text.occurred_at) == ("oh no", "CRITICAL", "2024-05-01 10:00:00")
    assert (structured.message, structured.context) == ("inner", '{"jsonPayload":{"code":3}}')


def test_thread_numbers_before_the_level() -> None:
    first, second = read(
        "2024-05-01T10:00:00.123456Z 8 [Note] ready\n2024-05-01T10:00:00.123456Z 0 [ERROR] [Server] Aborting\n"
    )
    assert [(event.severity, event.message) for event in (first, second)] == [
        ("INFO", "ready"),
        ("ERROR", "[Server] Aborting"),
    ]


_NODE_CRASH = """\
/srv/shop/pay.js:1
function charge(o){ throw new Error("declined\\nby the bank"); }
                    ^

Error: declined
by the bank
    at charge (/srv/shop/pay.js:1:27)
    at Object.<anonymous> (/srv/shop/pay.js:3:1)
    at node:internal/main/run_main_module:28:49 {
  code: 'EBANK'
}

Node.js v20.20.2
"""


@pytest.mark.parametrize("head", ["", "2024-05-01 10:00:00 INFO "], ids=["plain", "headed"])
def test_a_node_crash_is_one_entry(head: str) -> None:
    """Place, source, caret, error, frames and version belong together, in files with and without headers."""
    before, crash, after = read(f"{head}listening on 3000\n{_NODE_CRASH}{head}listening again\n")
    assert (before.message, after.message) == ("listening on 3000", "listening again")
    assert (crash.severity, crash.message) == ("ERROR", "Error: declined\nby the bank")
    assert [(raised.type, len(raised.frames)) for raised in crash.exceptions] == [("Error", 3)]
    assert crash.exceptions[0].frames[0].function == "charge"
    assert crash.stack.startswith("/srv/shop/pay.js:1\n") and crash.stack.endswith("Node.js v20.20.2")


def test_a_node_crash_without_an_error_object() -> None:
    """What is thrown need not be an Error; it is a crash all the same."""
    thrown = "(Use `node --trace-uncaught ...` to show where the exception was thrown)"
    (crash,) = read(f"/srv/shop/pay.js:1\nthrow 'no'\n^\nno\n{thrown}\n\nNode.js v20.20.2\n")
    assert crash.severity == "ERROR"


def test_a_place_in_a_script_need_not_be_a_crash() -> None:
    """Without a caret below, lines of a file without headers stay entries of their own."""
    lines = ["checked /srv/a.js:10", "/srv/a.js:10", "/srv/b.js:11", "done", "bye"]
    assert [event.message for event in read("\n".join(lines))] == [*lines[:2], "/srv/b.js:11\ndone", "bye"]
