"""Formats of one's own: what is refused, what they read, and that they are tried before every other."""

import json
from typing import Any

import pytest

from snaglist.kernel import Invalid
from snaglist.plugins.issues import Event
from snaglist.plugins.logs.own_formats.parser import OwnFormat, level_of
from snaglist.plugins.logs.own_formats.pattern import Format, compiled
from snaglist.plugins.logs.own_formats.preview import preview
from snaglist.plugins.logs.parsers import BUILT_IN, Reader
from snaglist.testing import Client, running_service

NOW = "2026-01-04 00:00:00"
PRINTER = r"(?P<level>\w)/(?P<logger>\w+) (?P<time>[\d.]+ [\d:]+) job=(?P<job>\d+) (?P<message>.*)"
LOG = """\
E/tray 03.01.2026 10:00:00 job=17 paper jam
2026-01-03 10:00:01 ERROR a line that is no header of it
I/fuser 03.01.2026 10:00:02 job=18 warm
E/tray 03.01.2026 10:00:03 job=19 paper jam
"""


def read(text: str, *formats: Format) -> list[Event]:
    data = text.encode()
    parsers = [*map(OwnFormat, formats), *BUILT_IN]
    reader = Reader(data, modified_at=NOW, now=NOW, parsers=parsers)
    return [*reader.feed(data), *reader.close()]


def test_an_entry_has_what_the_groups_say_and_other_lines_go_on_with_it() -> None:
    first, second, third = read(LOG, Format("printer", PRINTER))
    assert first.message == "paper jam\n2026-01-03 10:00:01 ERROR a line that is no header of it"
    assert (first.severity, first.level_source, first.channel) == ("ERROR", "line", "tray")
    assert (first.occurred_at, first.time_source) == ("2026-01-03 10:00:00", "event")
    assert (first.log_type, json.loads(first.context)) == ("format_printer", {"job": "17"})
    assert (second.severity, third.byte_end) == ("INFO", len(LOG))


def test_a_trace_below_an_entry_is_its_trace() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 1\n'
    (event,) = read("E/tray 03.01.2026 10:00:00 job=17 paper jam\n" + trace, Format("printer", PRINTER))
    assert [one.type for one in event.exceptions] == ["KeyError"]


def test_times_without_an_offset_are_of_its_zone() -> None:
    first = read(LOG, Format("printer", PRINTER, "Europe/Berlin"))[0]
    assert first.occurred_at == "2026-01-03 09:00:00"


def test_what_follows_the_match_is_not_lost() -> None:
    (event,) = read("E: paper jam in tray 2\n", Format("short", r"(?P<level>\w): (?P<message>paper \w+)"))
    assert event.message == "paper jam in tray 2"


def test_it_is_found_within_a_wrapper() -> None:
    line = json.dumps({"log": "E/tray 03.01.2026 10:00:00 job=17 paper jam\n", "stream": "stdout",
                       "time": "2026-01-03T10:00:00.5Z"})  # fmt: skip
    (event,) = read(line + "\n", Format("printer", PRINTER))
    assert (event.message, event.severity, event.channel) == ("paper jam", "ERROR", "tray")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"(?P<time>\S+) .*", "has no group for the message: put (?P<message>.*) where the message stands"),
        (r"x(?P<message>.*)", "has no group for a time and none for a level"),
        (r"(?P<level>\w*)(?P<message>.*)", "fits an empty line, and so any line"),
        (r"(?P<level>\w+) (?P<message>.*", "missing )"),
        (r"(?P<level>\w+) a{3000}(?P<message>.*)", "invalid repetition size at character 17: {3000}"),
        (r"(?P<level>\w+) (?=x)(?P<message>.*)", "RE2 has no look-around and no back-references"),
        (r"(?P<level>\w+)|(?P<level>\d+) (?P<message>.*)", "the group level stands twice"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_way_on(pattern: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        compiled(pattern)
    assert refused.value.message.startswith("pattern: ") and said in refused.value.message


def test_any_line_takes_linear_time() -> None:
    """An expression on which others take years."""
    expression = compiled(r"(?P<level>(a+)+)b (?P<message>.*)")
    assert expression.find("a" * 1_000_000) is None


@pytest.mark.parametrize(
    ("text", "level"),
    [("E", "ERROR"), ("warn", "WARNING"), ("[ERR]", "ERROR"), ("<i>", "INFO"), ("fatal:", "CRITICAL"), ("?", "")],
)
def test_levels(text: str, level: str) -> None:
    assert level_of(text) == level


def test_a_preview_says_what_each_line_gives() -> None:
    found = preview(PRINTER, "UTC", ["paper", *LOG.splitlines()])
    assert (found["matched"], found["with_time"], found["with_level"]) == (3, 3, 3)
    before, first, below = found["lines"][:3]
    assert (before["matched"], before["continuation"]) == (False, False)
    assert {name: first[name] for name in ("time", "level", "message", "channel", "context")} == {
        "time": "2026-01-03 10:00:00", "level": "ERROR", "message": "paper jam", "channel": "tray",
        "context": {"job": "17"},
    }  # fmt: skip
    assert [part["group"] for part in first["parts"]] == [
        "level",
        None,
        "logger",
        None,
        "time",
        None,
        "job",
        None,
        "message",
    ]
    assert "".join(part["text"] for part in first["parts"]) == LOG.splitlines()[0]
    assert (below["matched"], below["continuation"]) == (False, True)


@pytest.mark.servers
def test_formats_are_kept_changed_and_deleted(client: Client) -> None:
    made = client.post("log-formats", {"name": "printer", "pattern": PRINTER, "sample": LOG}).json
    assert (made["enabled"], made["zone"], made["position"]) == (True, None, 1)
    other = client.post("log-formats", {"name": "other", "pattern": PRINTER, "position": 0}).json
    assert [one["name"] for one in client.get("log-formats").json["data"]] == ["other", "printer"]
    changed = client.post("log-formats", {"id": other["id"], "enabled": False}).json
    assert changed == {**other, "enabled": False, "updated_at": changed["updated_at"]}
    assert client.delete("log-formats", {"id": other["id"]}).json == {"id": other["id"], "deleted": True}
    assert client.get("log-formats").json == {"data": [made]}


def test_what_does_not_fit_is_named(sqlite_client: Client) -> None:
    good = {"name": "printer", "pattern": PRINTER}
    assert sqlite_client.post("log-formats", good).status == 200
    for body, field in (
        (good, "name: another format has this name"),
        ({**good, "name": "a/b"}, "name: must be 1-32 small letters"),
        ({"name": "x"}, "pattern: is required"),
        ({"pattern": PRINTER}, "name: is required"),
        ({"name": "x", "pattern": "("}, "pattern: missing )"),
        ({"name": "x", "pattern": "a" * 2001}, "pattern: "),
        ({**good, "name": "x", "zone": "Mars/Base"}, "zone: "),
    ):
        answer = sqlite_client.post("log-formats", body)
        assert (answer.status, answer.error.startswith(field)) == (422, True), answer.error
    assert sqlite_client.post("log-formats", {"id": 99, "enabled": True}).status == 404
    assert sqlite_client.delete("log-formats", {"id": 99}).status == 404


def test_there_are_not_too_many(sqlite_client: Client) -> None:
    for number in range(50):
        assert sqlite_client.post("log-formats", {"name": f"n{number}", "pattern": PRINTER}).status == 200
    answer = sqlite_client.post("log-formats", {"name": "one_more", "pattern": PRINTER})
    assert answer.error.startswith("name: there are 50 formats already")


@pytest.mark.servers
def test_a_format_holds_for_files_of_its_application_and_a_reindex_applies_it(client: Client, drop: Any) -> None:
    drop(client.service, "printer.log", LOG)
    client.post("import-incoming", wait="1")
    assert client.get("sources").json["data"][0]["log_type"] != "format_printer"
    made = client.post("log-formats", {"name": "printer", "pattern": PRINTER}).json
    assert client.get("ingestion-settings").json["reindex_needed"]
    client.post("reindex", wait="1")
    assert not client.get("ingestion-settings").json["reindex_needed"]
    (source,) = client.get("sources").json["data"]
    assert (source["log_type"], source["reading"]["with_level"]) == ("format_printer", 3)
    found = {issue["title"]: (issue["log_type"], issue["count"]) for issue in client.get("errors").json["data"]}
    assert found["paper jam"] == ("format_printer", 1)
    again = client.post("reindex", wait="1").json
    assert (again["events"], again["new_groups"]) == (0, 0)
    client.post("log-formats", {"id": made["id"], "enabled": False})
    assert client.get("ingestion-settings").json["reindex_needed"]


def test_a_preview_of_a_source_and_of_a_text(sqlite_client: Client, drop: Any) -> None:
    drop(sqlite_client.service, "printer.log", LOG)
    sqlite_client.post("import-incoming", wait="1")
    source_id = sqlite_client.get("sources").json["data"][0]["id"]
    of_source = sqlite_client.post("log-formats-preview", {"pattern": PRINTER, "source_id": source_id}).json
    of_text = sqlite_client.post("log-formats-preview", {"pattern": PRINTER, "text": LOG}).json
    assert of_source == of_text and of_text["matched"] == 3
    for body in ({"pattern": PRINTER}, {"pattern": PRINTER, "text": "", "source_id": source_id}):
        assert sqlite_client.post("log-formats-preview", body).status == 422
    assert sqlite_client.post("log-formats-preview", {"pattern": "(", "text": LOG}).error.startswith("pattern: ")


def test_formats_of_one_application_are_not_those_of_another(tmp_path: Any) -> None:
    with running_service(tmp_path / "data") as service:
        client = Client(service)
        client.post("log-formats", {"name": "printer", "pattern": PRINTER})
        client.post("applications", {"name": "Second", "id": "second"})
        assert client.get("log-formats", app="second").json == {"data": []}
