"""Headers of usual loggers: severity, time, message, and what else the format says."""

import json
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import BUILT_IN, AccessLine, Parser, Reader
from snaglist.plugins.logs.parsers.severity import by_name, by_number
from snaglist.plugins.logs.parsers.words import by_words

NOW = "2025-01-01 00:00:00"
DAY = "2024-05-01 10:00:00"


def read(text: str, **options: Any) -> list[Event]:
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now=NOW, **options)
    return [*reader.feed(data), *reader.close()]


@pytest.mark.parametrize(
    ("line", "severity", "message"),
    [
        (f"{DAY},123 - shop.api - ERROR - connection lost", "ERROR", "connection lost"),
        (f"[{DAY} +0000] [7] [INFO] Starting", "INFO", "Starting"),
        (f"{DAY}.123 ERROR 12345 --- [nio-1] c.a.Orders : order failed", "ERROR", "order failed"),
        (f"{DAY}.123 [main] ERROR com.acme.Main - boom happened", "ERROR", "boom happened"),
        (f"{DAY} [http-2] [trace=abc] ERROR c.a.X - two brackets", "ERROR", "two brackets"),
        ("[2024-05-01T10:00:00Z ERROR my_crate::db] pool exhausted", "ERROR", "pool exhausted"),
        ("2024-05-01T10:00:00.123456Z ERROR my_crate::db: pool exhausted", "ERROR", "pool exhausted"),
        ("E0501 10:00:00.123456   12345 server.go:41] lost lease", "ERROR", "lost lease"),
        ("05-01 10:00:00.811  1702  2395 W Wm: surface gone", "WARNING", "Wm: surface gone"),
        ("E, [2024-05-01T10:00:00.123456 #123] ERROR -- : rails failed", "ERROR", "rails failed"),
        (f"[{DAY},123: ERROR/MainProcess] Task failed", "ERROR", "Task failed"),
        (f"{DAY}.123 UTC [811] FATAL:  no such user", "CRITICAL", "no such user"),
        ("[01-May-2024 10:00:00 UTC] PHP Notice:  Undefined $x", "NOTICE", "PHP Notice:  Undefined $x"),
        ("1:M 01 May 2024 10:00:00.123 # Out of memory", "WARNING", "Out of memory"),
        (f"{DAY} [error] something bad", "ERROR", "something bad"),
        (f"{DAY} warn: something bad", "WARNING", "something bad"),
        (f"{DAY} | ERROR    | something bad", "ERROR", "something bad"),
        (f"{DAY} SEVERE something", "ERROR", "something"),
        (f"{DAY} TRACE something", "DEBUG", "something"),
        (f"{DAY} EMERG something", "EMERGENCY", "something"),
        (f"{DAY} ERROR [payment] card declined", "ERROR", "[payment] card declined"),
        (f"{DAY} Connection ERROR while reading", "ERROR", "Connection ERROR while reading"),
        (f"{DAY} debug cache miss", "DEBUG", "debug cache miss"),
        (f"{DAY} daemon started", "INFO", "daemon started"),
        (f"{DAY} ERROR card 'WARN' INFO", "ERROR", "card 'WARN' INFO"),
        (f"{DAY},5 - INFO  [Peer[id=1]/0:0:Fast@774] - time out: 3200", "INFO", "time out: 3200"),
        ("Wed May  1 10:00:00 2024 [notice] ok", "NOTICE", "ok"),
        ("240501 100000 148 INFO dfs.Node$Responder: terminating", "INFO", "terminating"),
        ("24/05/01 10:00:00 INFO executor.Backend: registered", "INFO", "registered"),
    ],
)
def test_console_headers(line: str, severity: str, message: str) -> None:
    [event] = read(line + "\n")
    assert (event.log_type, event.severity, event.message) == ("console", severity, message)
    expected = "2024-05-01" if not line.startswith("24/05/01") else event.occurred_at[:10]
    assert (event.occurred_at[:10], event.occurred_at[11:], event.time_source) == (expected, "10:00:00", "event")


@pytest.mark.parametrize(
    ("line", "severity", "message"),
    [
        ("ERROR:root:default format", "ERROR", "default format"),
        ("WARNING: disk almost full", "WARNING", "disk almost full"),
        ("[debug] cache miss", "DEBUG", "cache miss"),
        ("Error: something broke", "ERROR", "Error: something broke"),
        ("Log in as root", "INFO", "Log in as root"),
        ("Connection refused by peer", "ERROR", "Connection refused by peer"),
        ("request timeout", "WARNING", "request timeout"),
        ("user 'error' logged in", "INFO", "user 'error' logged in"),
    ],
)
def test_lines_without_time(line: str, severity: str, message: str) -> None:
    [event] = read(line + "\n")
    assert (event.severity, event.message, event.time_source) == (severity, message, "file")


def test_severity_names_and_numbers() -> None:
    assert [by_name(name) for name in ("warn", " Err ", "Severe", "fatal", "x", 5)] == [
        "WARNING", "ERROR", "ERROR", "CRITICAL", "", ""
    ]  # fmt: skip
    assert [by_number(n) for n in (0, 3, 7, 10, 30, 50, 60, 100, 250, 400, 550, 600)] == [
        "EMERGENCY", "ERROR", "DEBUG", "DEBUG", "INFO", "ERROR", "CRITICAL", "DEBUG", "NOTICE", "ERROR", "ALERT",
        "EMERGENCY",
    ]  # fmt: skip
    assert by_words("warning: error before panic") == "CRITICAL" and by_words("failures = error") == ""


def test_syslog_5424() -> None:
    [event] = read('<34>1 2003-10-11T22:14:15.003Z web1 su 77 ID47 [ex@1 a="b]c"][y@2] \ufeffsu root failed\n')
    assert (event.log_type, event.severity, event.message) == ("syslog", "CRITICAL", "su root failed")
    assert (event.channel, event.server_name, event.context) == ("su", "web1", '[ex@1 a="b]c"][y@2]')
    assert event.occurred_at == "2003-10-11 22:14:15"


def test_syslog_3164_and_what_is_wrapped() -> None:
    plain, wrapped, untagged = read(
        "<11>May  1 10:00:00 web1 app[9]: plain failure\n"
        'May  1 10:00:01 web1 app[9]: {"level":"error","msg":"db down"}\n'
        "May  1 10:00:02 web1 -- MARK --\n"
    )
    assert (plain.severity, plain.message, plain.occurred_at) == ("ERROR", "plain failure", "2024-05-01 10:00:00")
    assert (wrapped.log_type, wrapped.message, wrapped.channel) == ("json", "db down", "app")
    assert (untagged.message, untagged.channel, untagged.server_name) == ("-- MARK --", "", "web1")


def test_container_lines_are_framed_as_the_log_within() -> None:
    text = "".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2024-05-01T10:00:00.5Z"}) + "\n"
        for line in (f"{DAY} ERROR query", "select 1", "  from dual", f"{DAY} INFO ok")
    )
    first, second = read(text)
    assert (first.message, first.log_type, first.severity) == ("query\nselect 1\n  from dual", "container", "ERROR")
    assert second.message == "ok"


def test_json_fields_of_several_loggers() -> None:
    records = [
        {"message": "hi", "level": 400, "level_name": "ERROR", "channel": "app",
         "datetime": "2024-05-01T10:00:00+00:00",
         "context": {"exception": {"class": "X", "message": "m", "file": "/a.php:12", "trace": ["/vendor/b.php:3"]}}},
        {"timestamp": "2024-05-01T10:00:00Z", "level": "ERROR", "fields": {"message": "deep"}, "target": "app::db"},
        {"t": {"$date": "2024-05-01T10:00:00.000+00:00"}, "s": "E", "c": "NETWORK", "msg": "lost"},
        {"@timestamp": "2024-05-01T10:00:00Z", "log.level": "error", "message": "ecs", "service.version": "1.2",
         "error": {"type": "java.lang.X", "message": "no", "stack_trace": "java.lang.X: no\n\tat a.B.c(B.java:1)"}},
        {"time": 1714557600, "levelname": "ERROR", "message": "py", "name": "shop", "hostname": "web1",
         "env": "staging",
         "exc_info": 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\nKeyError: 1'},
        {"short_message": "gelf", "level": 3, "timestamp": 1714557600.25, "host": "web1"},
    ]  # fmt: skip
    events = read("".join(json.dumps(record) + "\n" for record in records))
    assert {(e.severity, e.occurred_at, e.log_type) for e in events} == {("ERROR", DAY, "json")}
    assert [e.message for e in events] == ["hi", "deep", "lost", "ecs", "py", "gelf"]
    assert [[x.type for x in e.exceptions] for e in events] == [["X"], [], [], ["java.lang.X"], ["KeyError"], []]
    assert [f.in_app for f in events[0].exceptions[0].frames] == [True, False]
    assert (events[0].channel, events[3].release) == ("app", "1.2")
    assert (events[4].channel, events[4].server_name, events[4].environment) == ("shop", "web1", "staging")


def test_nginx_facts_and_php_within() -> None:
    first, second = read(
        '2024/05/01 10:00:00 [error] 1#0: *5 open() "/x" failed, client: 192.0.2.1, server: s,'
        ' request: "GET /x HTTP/1.1"\n'
        '2024/05/01 10:00:00 [error] 1#0: *5 FastCGI sent in stderr: "PHP message: PHP Fatal error:  Uncaught Gone: no'
        ' in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3" while reading, client: 192.0.2.1\n'
    )
    assert (first.log_type, first.message) == ("nginx_error", 'open() "/x" failed')
    assert first.context == 'client: 192.0.2.1, server: s, request: "GET /x HTTP/1.1"'
    assert (second.exceptions[0].type, second.exceptions[0].frames[0].line) == ("Gone", 3)


@pytest.mark.parametrize(("status", "severity"), [(200, "INFO"), (404, "WARNING"), (500, "ERROR"), (599, "ERROR")])
def test_check_67_access_severity(status: int, severity: str) -> None:
    [event] = read(f'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /orders/1?a=b HTTP/1.1" {status} -\n')
    assert (event.family, event.severity, event.message) == ("access", severity, f"GET /orders/1 → {status}")
    assert isinstance(event.access, AccessLine) and event.access.path == "/orders/1"


def test_message_context_and_stack_limits() -> None:
    text = f"[{DAY}] local.ERROR: " + "m" * 50 + ' {"k":"' + "c" * 50 + '"} []\n'
    [event] = read(text, message_limit=20, context_limit=10)
    assert (len(event.message), len(event.context), event.truncated) == (20, 10, True)


def test_empty_messages_and_context_only() -> None:
    first, second = read(f'[{DAY}] local.ERROR:  \n[{DAY}] local.ERROR: {{"a":1}}\n')
    assert (first.message, second.message, second.context) == ("", '{"a":1}', "")


def test_words_of_an_object_behind_a_name_are_the_message() -> None:
    """Else unlike errors of one logger would look alike; what has no words, or stands behind a sentence, is context."""
    objects = ['{"msg": "disk full", "id": 8}', '{"error": "no route", "id": 9}', '{"id": 10}', '{"msg": "   "}']
    events = read("".join(f"{DAY} ERROR app: {one}\n" for one in objects) + f'{DAY} ERROR it fails: {{"msg": "x"}}\n')
    assert [event.message for event in events] == ["app: disk full", "app: no route", "app:", "app:", "it fails:"]
    assert [event.context for event in events] == [*objects, '{"msg": "x"}']


class Pipes(Parser):
    log_type = "pipes"

    def header(self, line: str) -> list[str] | None:
        parts = line.split("|||")
        return parts if len(parts) == 2 else None

    def event(self, header: list[str], lines: Any, clock: Any) -> Event:
        return Event("\n".join([header[1], *lines]), severity="NOTICE", occurred_at=clock.iso(header[0]))


def test_added_parsers_take_part() -> None:
    text = f"{DAY}|||one\n  more\n{DAY}|||two\n"
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now=NOW, parsers=(*BUILT_IN, Pipes()), channel="app.log")
    events = [*reader.feed(data), *reader.close()]
    assert reader.log_type == "pipes"
    assert [(e.message, e.log_type, e.channel) for e in events] == [
        ("one\n  more", "pipes", "app.log"),
        ("two", "pipes", "app.log"),
    ]


class Careless(Parser):
    """A parser of a third party that does not ask the clock, nor for the names of severities."""

    log_type = "careless"

    def header(self, line: str) -> list[str] | None:
        parts = line.split("|||")
        return parts if len(parts) == 3 else None

    def event(self, header: list[str], lines: Any, clock: Any) -> Event:
        return Event(header[2], severity=header[1], occurred_at=header[0])


@pytest.mark.parametrize(
    ("time", "level", "expected"),
    [
        ("2026-01-03T10:00:00Z", "error", ("2026-01-03 10:00:00", "event", "ERROR")),
        ("2026-01-03 11:00:00.5+01:00", "Warn", ("2026-01-03 10:00:00", "event", "WARNING")),
        ("yesterday", "LOUD", (NOW, "file", "INFO")),
        ("2026-02-30 10:00:00", "", (NOW, "file", "INFO")),
        ("2026-W01-6 10:00:00", "CRITICAL", (NOW, "file", "CRITICAL")),
        ("2026-01-03 10:00:00", "NOTICE", ("2026-01-03 10:00:00", "event", "NOTICE")),
    ],
)
def test_times_and_severities_of_a_careless_parser(time: str, level: str, expected: tuple[str, str, str]) -> None:
    """No entry is lost by them, and none is stored that no answer may hold."""
    data = f"{time}|||{level}|||Order sent\n".encode()
    reader = Reader(data, modified_at=NOW, now=NOW, parsers=(*BUILT_IN, Careless()))
    (event,) = [*reader.feed(data), *reader.close()]
    assert (event.occurred_at, event.time_source, event.severity) == expected
