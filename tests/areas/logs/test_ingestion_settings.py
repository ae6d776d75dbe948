"""What of log files is stored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues.tables import occurrences
from snaglist.plugins.logs import ingestion
from snaglist.plugins.logs.ingestion import is_zone, machine_zone
from snaglist.testing import Client, running_service

Line = Callable[..., str]
ALL = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"]
FIVE = ALL[:5]
NO_ZONES = ["right/Europe/Berlin", "posix/Europe/Berlin", "posixrules", "localtime", "/UTC", "../etc/passwd"]


def test_a_new_application_has_the_defaults(client: Client) -> None:
    assert client.get("ingestion-settings").json == {
        "available_severities": ALL,
        "ingested_severities": FIVE,
        "defaults": FIVE,
        "timezone": machine_zone(),
        "access_issue_min_status": 500,
        "unlevelled": "failures",
        "reindex_needed": False,
    }


def test_put_replaces_and_patch_changes(client: Client) -> None:
    body = {"severities": ["debug", " Error ", "ERROR"], "timezone": "Asia/Shanghai", "access_issue_min_status": 400}
    changed = client.put("ingestion-settings", body)
    assert changed.status == 200
    assert changed.json["ingested_severities"] == ["ERROR", "DEBUG"]
    assert (changed.json["timezone"], changed.json["access_issue_min_status"]) == ("Asia/Shanghai", 400)
    patched = client.patch("ingestion-settings", {"timezone": "UTC"}).json
    assert (patched["ingested_severities"], patched["timezone"]) == (["ERROR", "DEBUG"], "UTC")
    assert patched["access_issue_min_status"] == 400
    assert client.patch("ingestion-settings", {}).json == patched
    replaced = client.put("ingestion-settings", {"severities": ["INFO"]}).json
    assert (replaced["timezone"], replaced["access_issue_min_status"]) == (machine_zone(), 500)
    assert client.get("ingestion-settings").json == replaced


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "severities"),
        ({"severities": []}, "severities"),
        ({"severities": ["LOUD", "ERROR"]}, "severities[0]"),
        ({"severities": "ERROR"}, "severities"),
        ({"severities": [1]}, "severities[0]"),
        ({"severities": ["ERROR"], "timezone": "Mars/Base"}, "timezone"),
        ({"severities": ["ERROR"], "timezone": ""}, "timezone"),
        *(({"severities": ["ERROR"], "timezone": name}, "timezone") for name in NO_ZONES),
        ({"severities": ["ERROR"], "access_issue_min_status": 99}, "access_issue_min_status"),
        ({"severities": ["ERROR"], "access_issue_min_status": 601}, "access_issue_min_status"),
        ({"severities": ["ERROR"], "access_issue_min_status": "500"}, "access_issue_min_status"),
        ({"severities": ["ERROR"], "unlevelled": "some"}, "unlevelled"),
        ({"severities": ["ERROR"], "severitys": 1}, "severitys"),
    ],
)
def test_bad_values_are_named(sqlite_client: Client, body: dict[str, Any], field: str) -> None:
    answer = sqlite_client.put("ingestion-settings", body)
    assert answer.status == 422
    assert answer.error.startswith(f"{field}: ")


def test_unknown_severities_are_listed(sqlite_client: Client) -> None:
    answer = sqlite_client.put("ingestion-settings", {"severities": ["LOUD", "ERROR", "quiet"]})
    wanted = f"must be one of {', '.join(ALL)}, not"
    assert answer.error == f"severities[0]: {wanted} LOUD; severities[2]: {wanted} QUIET"


def test_69_a_change_asks_for_a_reindex(client: Client, drop: Any, line: Line) -> None:
    client.put("ingestion-settings", {"severities": ["ERROR"]})
    assert not client.get("ingestion-settings").json["reindex_needed"]
    drop(client.service, "app.log", line("one") + line("noise", "INFO"))
    assert client.post("import-incoming", wait="1").json["filtered"] == 1
    assert not client.get("ingestion-settings").json["reindex_needed"]
    changed = client.patch("ingestion-settings", {"severities": ["ERROR", "INFO"]}).json
    assert changed["reindex_needed"]
    assert client.get("ingestion-settings").json["reindex_needed"]
    drop(client.service, "next.log", line("two", "INFO", 5))
    assert client.post("import-incoming", wait="1").json["events"] == 1


def test_a_newer_parser_asks_for_a_reindex(
    sqlite_client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(sqlite_client.service, "app.log", line("one"))
    sqlite_client.post("import-incoming", wait="1")
    assert not sqlite_client.get("ingestion-settings").json["reindex_needed"]
    monkeypatch.setattr(ingestion, "PARSER_VERSION", ingestion.PARSER_VERSION + 1)
    assert sqlite_client.get("ingestion-settings").json["reindex_needed"]


def test_configured_defaults(tmp_path: Path) -> None:
    with running_service(
        tmp_path / "data",
        ingestion__default_severities=["info", "ALERT"],
        access__issue_min_status=404,
        ingestion__unlevelled="all",
    ) as service:
        body = Client(service).get("ingestion-settings").json
    assert (body["ingested_severities"], body["defaults"]) == (["ALERT", "INFO"], ["ALERT", "INFO"])
    assert (body["access_issue_min_status"], body["unlevelled"]) == (404, "all")


# An entry each: a level is written, words speak of a failure, a trace does, and nothing does.
UNSURE = """\
[2026-01-03 10:00:00] production.INFO: a level is written
{"time": "2026-01-03T10:00:01Z", "msg": "connection refused by the printer"}
{"time": "2026-01-03T10:00:02Z", "msg": "order 17", "err": {"type": "Late", "message": "gone"}}
{"time": "2026-01-03T10:00:03Z", "msg": "order 18 was printed"}
"""
REFUSED, TRACE, PRINTED = "connection refused by the printer", "order 17", "order 18 was printed"


@pytest.mark.parametrize(
    ("unlevelled", "kept"),
    [("failures", {REFUSED, TRACE}), ("all", {REFUSED, TRACE, PRINTED}), ("none", set())],
)
def test_lines_without_a_level_are_kept_as_the_setting_says(
    sqlite_client: Client, drop: Any, unlevelled: str, kept: set[str]
) -> None:
    sqlite_client.put("ingestion-settings", {"severities": ["ERROR"], "unlevelled": unlevelled})
    drop(sqlite_client.service, "app.log", UNSURE)
    result = sqlite_client.post("import-incoming", wait="1").json
    assert (result["events"], result["filtered"]) == (len(kept), 4 - len(kept))
    assert {issue["title"] for issue in sqlite_client.get("errors").json["data"]} == kept


@pytest.mark.servers
def test_another_setting_for_lines_without_a_level_asks_for_a_reindex(client: Client, drop: Any) -> None:
    """What it keeps more is stored then, and what was counted before is not counted again."""
    client.put("ingestion-settings", {"severities": ["ERROR"], "unlevelled": "failures"})
    drop(client.service, "app.log", UNSURE)
    client.post("import-incoming", wait="1")
    assert client.patch("ingestion-settings", {"unlevelled": "failures"}).json["reindex_needed"] is False
    assert client.patch("ingestion-settings", {"unlevelled": "all"}).json["reindex_needed"] is True
    assert client.post("reindex", wait=1).json["events"] == 1
    assert client.get("ingestion-settings").json["reindex_needed"] is False
    for unlevelled, stored in (("none", 0), ("all", 3)):
        client.patch("ingestion-settings", {"unlevelled": unlevelled})
        client.post("reindex", wait=1)
        issues = client.get("errors").json["data"]
        assert sum(issue["stored_occurrences"] for issue in issues) == stored
        assert sum(issue["count"] for issue in issues) == 3


def test_66_the_zone_counts_for_times_without_offset(client: Client, drop: Any) -> None:
    client.put("ingestion-settings", {"severities": ["ERROR"], "timezone": "Asia/Shanghai"})
    drop(client.service, "app.log", "[2024-05-01 10:00:00] production.ERROR: zone\n")
    client.post("import-incoming", wait="1")
    issue = client.get("errors").json["data"][0]
    assert issue["last_seen"] == "2024-05-01 02:00:00"


WRAPPED = "2026-01-02T06:30:09.5Z stderr F 2026-01-02 07:30:01 ERROR late\n"  # said at 06:30:01 in Berlin
OUTER, INNER = "2026-01-02 06:30:09", "2026-01-02 06:30:01"


@pytest.mark.parametrize(
    ("body", "told"), [(None, OUTER), ({"severities": ["ERROR"]}, OUTER), ({"timezone": "Europe/Berlin"}, INNER)]
)
def test_a_time_within_a_wrapper_counts_where_somebody_said_its_zone(
    sqlite_store: Any, drop: Any, monkeypatch: pytest.MonkeyPatch, body: Any, told: str
) -> None:
    """The zone of the machine is a guess: the time of the wrapper, which has one of its own, is better than that."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    client = Client(sqlite_store.service)
    if body is not None:
        client.patch("ingestion-settings", body)
    drop(sqlite_store.service, "app.log", WRAPPED)
    client.post("import-incoming", wait="1")
    assert [row.occurred_at for row in sqlite_store.rows(occurrences)] == [told]
    client.patch("ingestion-settings", {"timezone": "Europe/Berlin"})
    client.post("reindex", wait="1")
    assert [row.occurred_at for row in sqlite_store.rows(occurrences)] == [INNER]
    client.put("ingestion-settings", {"severities": ["ERROR"]})
    client.post("reindex", wait="1")
    assert [row.occurred_at for row in sqlite_store.rows(occurrences)] == [OUTER]


def test_a_zone_that_was_given_for_a_file_is_known_whatever_the_settings_say(
    sqlite_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    log = tmp_path / "app.log"
    log.write_text(WRAPPED)
    sqlite_store.scan(log, zone="Europe/Berlin")
    with log.open("a") as stream:
        stream.write(WRAPPED.replace("late", "later"))
    sqlite_store.scan(log, zone=None)
    assert [row.occurred_at for row in sqlite_store.rows(occurrences)] == [INNER, INNER]
    Client(sqlite_store.service).post("reindex", wait="1")
    assert [row.occurred_at for row in sqlite_store.rows(occurrences)] == [INNER, INNER]
    other = tmp_path / "other.log"
    other.write_text(WRAPPED)
    sqlite_store.scan(other, zone=None)
    assert sqlite_store.rows(occurrences)[-1].occurred_at == OUTER


def test_the_machine_zone(tmp_path: Path) -> None:
    zones = tmp_path / "zoneinfo" / "Europe"
    zones.mkdir(parents=True)
    (zones / "Berlin").touch()
    link, name, missing = tmp_path / "localtime", tmp_path / "timezone", tmp_path / "missing"
    link.symlink_to(zones / "Berlin")
    name.write_text("Asia/Tokyo\n")
    assert machine_zone({"TZ": ":America/New_York"}, link, name) == "America/New_York"
    assert machine_zone({"TZ": "nonsense"}, link, name) == "Europe/Berlin"
    assert machine_zone({}, missing, name) == "Asia/Tokyo"
    assert machine_zone({}, missing, missing) == "UTC"
    assert machine_zone({"TZ": ":right/America/New_York"}, missing, missing) == "America/New_York"
    assert machine_zone({"TZ": "posix/America/New_York"}, missing, missing) == "America/New_York"
    assert not any(map(is_zone, [*NO_ZONES, ""]))
    assert is_zone("Europe/Berlin")
