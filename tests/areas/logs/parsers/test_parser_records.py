"""Records in JSON and in pairs: names in any case and with any separators, levels by family, shippers' envelopes."""

import json
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2026-01-01 00:00:00"
AT = "2025-02-11T07:30:15Z"
TIME = "2025-02-11 07:30:15"
NANOSECONDS = 1739259015 * 10**9


def read(*records: Any) -> list[Event]:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    data = "".join(line + "\n" for line in lines).encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    return [*reader.feed(data), *reader.close()]


@pytest.mark.parametrize("level", ["level", "Level", "LEVEL", "log_level", "LogLevel", "log-level", "log.level",
                                   "@level", "severity", "Severity", "severityText", "error_severity", "levelname",
                                   "lvl", "status", "LevelDisplayName"])  # fmt: skip
@pytest.mark.parametrize("message", ["message", "Message", "msg", "Msg", "@message", "short_message", "Log-Message"])
def test_names_of_level_and_message_in_any_spelling(level: str, message: str) -> None:
    [event] = read({level: "error", message: "no rate"})
    assert (event.log_type, event.severity, event.message, event.context) == ("json", "ERROR", "no rate", "")


@pytest.mark.parametrize("name", ["time", "Time", "timestamp", "Timestamp", "@timestamp", "@t", "ts", "t", "eventTime",
                                  "event_time", "asctime", "datetime", "created", "start_time", "date"])  # fmt: skip
@pytest.mark.parametrize("value", [AT, "2025-02-11 08:30:15,120 +01:00", 1739259015.12, "1739259015120", NANOSECONDS,
                                   "11/Feb/2025:07:30:15 +0000", "/Date(1739259015120)/"])  # fmt: skip
def test_names_and_spellings_of_the_time(name: str, value: object) -> None:
    [event] = read({name: value, "level": "error", "msg": "no rate"})
    assert (event.occurred_at, event.time_source, event.context) == (TIME, "event", "")


def test_date_and_time_of_day_in_two_fields_are_one_time() -> None:
    [event] = read({"Date": "2025-02-11", "Time": "07:30:15", "Level": "Error", "Text": "no rate"})
    assert (event.occurred_at, event.message, event.context) == (TIME, "no rate", "")


def test_the_exact_time_wins_over_the_one_without_a_zone() -> None:
    [event] = read(
        {"asctime": "2025-02-11 09:30:15,120", "created": 1739259015.12, "levelname": "ERROR", "message": "x"}
    )
    assert event.occurred_at == TIME


@pytest.mark.parametrize(
    ("record", "severity"),
    [
        ({"level": 50, "pid": 3, "hostname": "box"}, "ERROR"),
        ({"level": 35, "name": "shop", "v": 0}, "INFO"),
        ({"level": 40}, "WARNING"),
        ({"levelno": 40}, "ERROR"),
        ({"level": 40, "funcName": "pay", "lineno": 3}, "ERROR"),
        ({"level_value": 40000}, "ERROR"),
        ({"level": 5000}, "DEBUG"),
        ({"severity_number": 17}, "ERROR"),
        ({"severityNumber": 9}, "INFO"),
        ({"level": 3, "version": "1.1", "host": "box", "short_message": "x"}, "ERROR"),
        ({"PRIORITY": "3"}, "ERROR"),
        ({"level": 3, "facility": "daemon"}, "ERROR"),
        ({"LogLevel": 4, "EventId": 7, "Category": "Shop"}, "ERROR"),
        ({"Level": 2, "ProviderName": "Shop"}, "ERROR"),
        ({"level": 3, "reqId": "a", "app": "core", "remoteAddr": ""}, "ERROR"),
        ({"level": 0, "reqId": "a", "app": "core", "remoteAddr": ""}, "DEBUG"),
        ({"level": 550, "channel": "app"}, "ALERT"),
        ({"level": -1, "ts": 1739259015}, "DEBUG"),
        ({"level": "Level(-3)"}, "DEBUG"),
        ({"level": "info", "v": 4}, "INFO"),
        ({"sev": "E", "c": 1, "s": 3}, "ERROR"),
        ({"s": "D2", "c": "NETWORK"}, "DEBUG"),
        ({"level": {"name": "ERROR", "no": 40}}, "ERROR"),
    ],
)
def test_numbers_are_levels_of_the_family_that_the_other_fields_show(record: dict[str, Any], severity: str) -> None:
    [event] = read({"message": "no rate", **record})
    assert (event.severity, event.level_source) == (severity, "line")


@pytest.mark.parametrize(
    "record",
    [{"level": 3}, {"level": 7}, {"level": 12}, {"priority": 1}, {"level": 400}, {"status": "ok"}, {"status": 3},
     {"v": 0}, {"level": "Metadata"}, {"level": True}],
)  # fmt: skip
def test_other_numbers_and_words_are_none(record: dict[str, Any]) -> None:
    [event] = read({"message": "job done", **record})
    assert (event.severity, event.level_source, event.message) == ("INFO", "none", "job done")


@pytest.mark.parametrize("holder", ["fields", "@fields", "jsonPayload", "attributes", "data", "log", "State", "record"])
def test_what_stands_one_object_down_counts_where_the_record_does_not_say_it(holder: str) -> None:
    below, own = read(
        {"@timestamp": AT, holder: {"Level": "ERROR", "message": "no rate", "code": 7}},
        {"@timestamp": AT, "message": "own", "level": "error", holder: {"level": "debug", "message": "no", "code": 7}},
    )
    assert (below.severity, below.message, json.loads(below.context)) == ("ERROR", "no rate", {holder: {"code": 7}})
    assert (own.severity, own.message) == ("ERROR", "own")


def test_templates_are_filled_from_properties_and_state() -> None:
    one, two = read(
        {
            "Level": "Error",
            "MessageTemplate": "no rate for {Code}",
            "Properties": {"Code": "CHF", "SourceContext": "Shop"},
        },
        {"LogLevel": "Error", "Category": "Shop", "State": {"Code": "CHF", "{OriginalFormat}": "no rate for {Code}"}},
    )
    for event in (one, two):
        assert (event.message, event.template, event.channel) == ("no rate for CHF", "no rate for {Code}", "Shop")


def test_records_of_telemetry_and_of_loguru() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\nKeyError: 1\n'
    record = {"level": {"name": "ERROR", "no": 40}, "message": "no rate", "time": {"timestamp": 1739259015.1}}
    one, two = read(
        {"timeUnixNano": str(NANOSECONDS), "severityNumber": 17, "body": {"stringValue": "no rate"}},
        {"text": f"2025-02-11 07:30:15.120 | ERROR | x - no rate\n{trace}", "record": record},
    )  # fmt: skip
    assert [(e.severity, e.message, e.occurred_at) for e in (one, two)] == [("ERROR", "no rate", TIME)] * 2
    assert two.exceptions[-1].type == "KeyError"


INNER = [
    ("2025-02-11 07:30:14 ERROR no rate", "ERROR", "no rate"),
    ('level=error msg="no rate"', "ERROR", "no rate"),
    ('{"level":"error","msg":"no rate"}', "ERROR", "no rate"),
    ("ERROR: no rate", "ERROR", "no rate"),
    ('10.0.0.9 - - [11/Feb/2025:07:30:14 +0000] "GET /x HTTP/1.1" 500 1', "ERROR", "GET /x → 500"),
]


@pytest.mark.parametrize(("text", "severity", "message"), INNER)
def test_an_object_without_a_level_around_a_log_line_is_an_envelope(text: str, severity: str, message: str) -> None:
    beats, fluent = read(
        {"@timestamp": AT, "message": text, "host": {"name": "box"}, "container": {"name": "shop"}, "tags": ["a"]},
        {"date": 1739259015.5, "log": text + "\n", "kubernetes": {"container_name": "shop", "host": "box"}},
    )
    for event in (beats, fluent):
        assert (event.severity, event.message, event.channel, event.server_name) == (severity, message, "shop", "box")
    assert beats.occurred_at[:18] == fluent.occurred_at[:18] == TIME[:18]
    assert '"tags":["a"]' in beats.context


def test_an_envelope_gives_the_time_that_its_line_lacks() -> None:
    [event] = read({"@timestamp": AT, "message": "[error] no rate"})
    assert (event.occurred_at, event.time_source, event.severity) == (TIME, "event", "ERROR")


def test_whatever_the_envelope_calls_its_line() -> None:
    docker, raw = read(
        {"line": "2025-02-11 07:30:14 ERROR no rate", "source": "stdout", "tag": "4f"},
        {"raw": "2025-02-11 07:30:14 ERROR no rate"},
    )
    assert [(e.severity, e.message) for e in (docker, raw)] == [("ERROR", "no rate")] * 2


def test_a_trace_within_one_envelope_is_read() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    pay()\nKeyError: 1\n'
    [event] = read({"@timestamp": AT, "message": f"2025-02-11 07:30:14 ERROR no rate\n{trace}"})
    assert (event.message, event.exceptions[-1].type) == ("no rate", "KeyError")


def test_an_envelope_within_an_envelope_is_opened_too() -> None:
    inner = json.dumps({"message": json.dumps({"level": "error", "msg": "no rate"})})
    [event] = read({"@timestamp": AT, "message": inner})
    assert (event.severity, event.message) == ("ERROR", "no rate")


@pytest.mark.parametrize(
    "record",
    [
        {"message": "no rate for CHF, try later"},
        {"message": "level of water is high"},
        {"message": "2025-02-11 07:30:14 ERROR quoted", "level": "warn"},
        {
            "message": "Error: gone",
            "err": {"type": "Gone", "message": "gone", "stack": "Gone: gone\n    at f (/a.js:1:2)"},
        },
    ],
)
def test_a_sentence_or_a_record_with_a_level_stays_what_it_is(record: dict[str, Any]) -> None:
    [event] = read({"@timestamp": AT, "order": 7, **record})
    assert (event.log_type, event.message) == ("json", record["message"])
    assert '"order":7' in event.context


def test_a_trace_of_enveloped_lines_is_one_entry() -> None:
    lines = ["2025-02-11 07:30:14 ERROR no rate", "Traceback (most recent call last):", '  File "/a.py", line 1, in f',
             "    pay()", "KeyError: 'CHF'", "2025-02-11 07:30:16 INFO next"]  # fmt: skip
    first, second = read(*({"@timestamp": AT, "message": line, "host": {"name": "box"}} for line in lines))
    assert (first.message, first.exceptions[-1].type, second.message) == ("no rate", "KeyError", "next")


def test_pairs_of_firewalls_and_services() -> None:
    events = read(
        'date=2025-02-11 time=09:30:15 tz="+0200" type="event" level="alert" msg="no such user"',
        'id=firewall sn=7 time="2025-02-11 07:30:15" pri=1 c=16 msg=\'no "such" user\'',
        'TIME=2025-02-11T07:30:15Z LEVEL=Alert MSG="no such user"',
        "date=2025-02-11 time=01:00:00 eventtime=1739259015841267391 level=alert msg=refused",
    )
    assert {(e.log_type, e.severity, e.occurred_at) for e in events} == {("logfmt", "ALERT", TIME)}
    assert [e.message for e in events] == ["no such user", 'no "such" user', "no such user", "refused"]


@pytest.mark.parametrize("line", ["x=1 y=2 z=3", "level=high", "a sentence with level=error in it", "level=3 msg=done"])
def test_pairs_without_a_known_level_are_no_error(line: str) -> None:
    [event] = read(line)
    assert event.severity != "ERROR" or event.level_source == "words"
