"""The fields of an event, without a service."""

import json
from typing import Any

import pytest

from snaglist.plugins.ingest.checking import check_event
from snaglist.plugins.issues import Event
from snaglist.plugins.issues.preparing import REDACTED_KEYS
from snaglist.plugins.logs import redacted_names

NOW = "2024-05-01 10:00:00"


def check(**fields: Any) -> Event:
    return check_event({"message": "m", **fields}, NOW, redacted_names(REDACTED_KEYS)).event


@pytest.mark.parametrize(
    ("given", "expected", "source"),
    [
        ("2024-05-01T10:00:30Z", "2024-05-01 10:00:30", "event"),
        ("2024-05-02T12:00:00Z", NOW, "received"),
        ("2024-03-22T10:00:00Z", "2024-03-22 10:00:00", "event"),
        (1714557600000, "2024-05-01 10:00:00", "event"),
        ("yesterday", NOW, "received"),
        (1714557600, "2024-05-01 10:00:00", "event"),
        (1714557600.987, "2024-05-01 10:00:00", "event"),
        ("2024-05-01 09:00:00", "2024-05-01 09:00:00", "event"),
        ("2024-05-01T11:00:00.123456789+02:00", "2024-05-01 09:00:00", "event"),
        ("2024-05-01T10:05:00Z", "2024-05-01 10:05:00", "event"),
        ("2024-05-01T10:05:01Z", NOW, "received"),
        ("0001-01-01T00:00:00Z", NOW, "received"),
        ("2024-13-01T00:00:00Z", NOW, "received"),
        (-1, NOW, "received"),
        (10**30, NOW, "received"),
        (True, NOW, "received"),
        ([], NOW, "received"),
        (None, NOW, "received"),
    ],
)
def test_times(given: Any, expected: str, source: str) -> None:
    event = check(timestamp=given)
    assert (event.occurred_at, event.time_source) == (expected, source)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("error", "ERROR"), ("Warn", "WARNING"), ("FATAL", "CRITICAL"), ("trace", "DEBUG"), ("loud", "ERROR"),
     (30, "INFO"), (None, "ERROR"), ([], "ERROR"), (" info ", "INFO"), (4, "WARNING")],
)  # fmt: skip
def test_severities(given: Any, expected: str) -> None:
    assert check(level=given).severity == expected


@pytest.mark.parametrize(
    ("given", "source"),
    [("Warn", "line"), (4, "line"), ("loud", "none"), (None, "none"), ([], "none")],
)
def test_a_level_that_was_sent_is_told_from_the_default(given: Any, source: str) -> None:
    assert check(level=given).level_source == source


@pytest.mark.parametrize(
    ("given", "expected"),
    [("3F2504E0-4F89-41D3-9A0C-0305E82C3301", "3f2504e04f8941d39a0c0305e82c3301"),
     ("3f2504e04f8941d39a0c0305e82c3301", "3f2504e04f8941d39a0c0305e82c3301"),
     ("Order-1.2_b", "Order-1.2_b"), ("a" * 64, "a" * 64), ("a" * 65, None), ("a b", None), ("a\n", None), ("", None),
     (5, None), ("é", None)],
)  # fmt: skip
def test_event_ids(given: Any, expected: str | None) -> None:
    event = check(event_id=given)
    assert event.event_id == expected
    assert event.truncated is (expected is None)


def test_short_fields_are_cut_and_wrong_types_replaced() -> None:
    assert not check(environment=" prod ", release="v1", server_name=7).truncated
    for fields in ({"environment": "e" * 101}, {"release": "r" * 121}, {"server_name": {}}, {"environment": 5},
                   {"stack": 5}, {"context": []}, {"breadcrumbs": {}}, {"tags": "a"}, {"tags": [5]}, {"level": {}},
                   {"fingerprint": 5}, {"fingerprint": ["a"] * 11}, {"module": 5}, {"exception": {}},
                   {"stack": ["a", 5]}, {"channel": "c" * 121}, {"runtime": []}):  # fmt: skip
        assert check(**fields).truncated, fields
    event = check(environment="e" * 200, release="r" * 200, server_name=True, channel="My App/Ünit 1")
    assert (len(event.environment), len(event.release or ""), event.server_name) == (100, 120, "true")
    assert (event.channel, check(channel="///").channel, check().channel) == ("my-app-nit-1", "app", "app")
    assert (check(environment="").environment, check(environment=5).environment) == ("production", "production")


def test_messages() -> None:
    assert check(exception_class="PayError").message == "PayError: m"
    assert check(message="PayError: m", exception="PayError").message == "PayError: m"
    assert check(message="  x\n").message == "x"
    long = check(message="x" * 1_000_001)
    assert len(long.message) == 1_000_000 and long.truncated
    assert check(message="a\0b\ud800c").message == "a\ufffdb\ufffdc"


def test_fingerprints_and_tags() -> None:
    assert check(fingerprint=["checkout", "timeout"]).fingerprint == "checkout|timeout"
    assert (check(fingerprint=" x ").fingerprint, check(fingerprint=[]).fingerprint) == ("x", None)
    assert check(tags=["Bug", " bug ", "STRASSE", "straße", ""]).tags == ["Bug", "STRASSE"]
    many = check(tags=[f"t{n}" for n in range(25)])
    assert len(many.tags) == 20 and many.truncated


def test_stacks_give_exceptions() -> None:
    stack = ["TypeError: x is undefined", "    at charge (https://shop.example/app.js:10:5)"]
    event = check(stack=stack, exception_class="TypeError", message="x is undefined")
    (exception,) = event.exceptions
    assert (exception.type, exception.message) == ("TypeError", "x is undefined")
    assert (exception.frames[0].function, exception.frames[0].line, exception.frames[0].column) == ("charge", 10, 5)
    assert event.stack == "\n".join(stack)
    (bare,) = check(exception_class="PayError", message="PayError: declined").exceptions
    assert (bare.type, bare.message) == ("PayError", "declined")


def test_context_and_redaction() -> None:
    """Keys are compared by `key()`, `-` as `_`, at every depth."""
    event = check(
        context={"order": 1, "API-Key": "x", "nested": [{"Set_Cookie": "x", "SESSION": {"a": 1}}], "tokens": "kept"},
        request={"headers": {"Authorization": "x", "cookie": "x", "Accept": "*/*"}},
        user={"id": 7, "PASSWORD": "x"},
        breadcrumbs=[{"n": n, "csrf": "x"} for n in range(60)],
        runtime="python 3.12",
    )
    found = json.loads(event.context)
    hidden = "[redacted]"
    assert (found["order"], found["API-Key"], found["tokens"]) == (1, hidden, "kept")
    assert found["nested"] == [{"Set_Cookie": hidden, "SESSION": hidden}]
    assert found["request"]["headers"] == {"Authorization": hidden, "cookie": hidden, "Accept": "*/*"}
    assert found["user"] == {"id": 7, "PASSWORD": hidden}
    assert [crumb["n"] for crumb in found["breadcrumbs"]] == list(range(10, 60))
    assert found["breadcrumbs"][0]["csrf"] == hidden and found["runtime"] == "python 3.12"
    assert check().context == "" and check(context={}).context == ""


def test_infinity_in_a_context_stays_json() -> None:
    assert json.loads(check(context={"a": float("inf")}).context) == {"a": "inf"}


def test_a_context_that_is_too_long() -> None:
    event = check(context={"text": "x" * 1_000_001})
    assert json.loads(event.context) == {"context": "[cut: longer than 1000000 characters]"} and event.truncated
