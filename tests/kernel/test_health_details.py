"""`health-details`: figures of an application, and what is not well with the next step, on all three databases."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from snaglist.kernel import Actor, ServiceError, times
from snaglist.plugins.alerting.channels import health as channels_health
from snaglist.plugins.alerting.tables import channels
from snaglist.plugins.logs.show import health as logs_health
from snaglist.plugins.logs.tables import sources
from snaglist.plugins.system import Figure, Problem, details
from snaglist.plugins.system.jobs import tables
from snaglist.testing import Client, running_service

Install = Callable[..., Any]
Kernel = Callable[..., Any]


def figures(client: Client) -> dict[tuple[str, str], Any]:
    answer = client.get("health-details")
    assert answer.status == 200, answer.text
    return {(one["section"], one["label"]): one["value"] for one in answer.json["figures"]}


def problems(client: Client) -> list[tuple[str, Any]]:
    return [(one["text"], one["view"]) for one in client.get("health-details").json["problems"]]


def lines(level: str, number: int) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 60))
    return "".join(f"[{stamp}] production.{level}: Order {each} failed\n" for each in range(number))


def test_a_fresh_instance_is_well(client: Client) -> None:
    assert problems(client) == []
    found = figures(client)
    assert found["Disk", "Total"] >= found["Disk", "Free"] > 0
    assert found["Database", "Size"] > 0
    assert found["Database", "Kind"].partition(" ")[0] in ("SQLite", "PostgreSQL", "MySQL", "MariaDB")
    assert (found["Jobs", "Waiting"], found["Events", "In 24 hours"]) == (0, 0)


def test_what_was_read_is_counted(client: Client) -> None:
    client.feed(lines("ERROR", 30) + lines("INFO", 12), "shop.log")
    found = figures(client)
    section = "Logs read in the last 7 days"
    assert (found[section, "Entries in them"], found[section, "Skipped by level"]) == (42, 12)
    assert (section, "Without a time") not in found
    assert found["Events", "In 24 hours"] == 30
    assert 0 < found["Events", "Per minute (last hour)"] <= 0.5
    assert sum(found["Events", "Hourly"]) == 30
    assert found["Last events", "shop.log"] == found["Events", "Last event"]
    [last] = [one for one in client.get("health-details").json["figures"] if one["label"] == "shop.log"]
    assert last["view"] == {"source": "shop.log", "status": "all"}
    assert problems(client) == []


def test_a_log_without_times_and_levels_is_named_with_the_way_to_a_format(client: Client) -> None:
    client.feed("first thing\n\nsecond thing\n\nfailed thing\n" * 5, "odd.log")
    source = client.get("sources").json["data"][0]["id"]
    [(text, view)] = problems(client)
    assert text.startswith("No line of odd.log has a time or a level")
    assert view == {"view": "format", "source": source}


def test_a_log_that_cannot_be_read_is_named(client: Client) -> None:
    client.feed(lines("ERROR", 1), "shop.log")
    with client.service.call().transaction() as db:
        db.execute(update(sources).values(status="error", last_error="Permission denied."))
    [(text, view)] = problems(client)
    assert text == "applications/default/processed/shop.log is not read: Permission denied."
    assert view == {"view": "sources"}


def test_files_that_lie_in_the_drop_folder_unread_are_named(client: Client) -> None:
    folder = client.service.applications.all()[0].logs
    for name in ("photo.png", "notes.txt", "a.zip", "b.zip", f".{'0' * 32}.upload"):
        (folder / name).write_text("x")
    [(text, _)] = problems(client)
    assert text == "Not read in the drop folder, because of the name: a.zip, b.zip, notes.txt and 1 more."


def test_a_drop_folder_that_is_gone_is_a_problem(client: Client) -> None:
    folder = client.service.applications.all()[0].logs
    folder.rmdir()
    assert ("The drop folder is not there.", {"view": "sources"}) in problems(client)


def test_logs_without_events_are_not_among_those_with_a_last_one(client: Client) -> None:
    for number in range(9):
        client.feed(lines("INFO", 1) + f"{number}\n", f"calm{number}.log")
    client.feed(lines("ERROR", 1), "shop.log")
    assert [label for section, label in figures(client) if section == "Last events, 1 of 10 logs"] == ["shop.log"]


def test_a_full_drop_folder_is_looked_at_to_a_bound(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = client.service.applications.all()[0].logs
    for number in range(9):
        (folder / f"{number}.png").write_text("x")
    monkeypatch.setattr(logs_health, "MAX_NAMES", 5)
    [(text, _)] = problems(client)
    assert text.endswith(" and 2 more. Only 5 names were looked at.")


def test_what_is_not_shown_of_many_logs_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that cannot be read are found however long ago they were read; of files that are gone, those of late."""
    for number in range(9):
        client.feed("first thing\n\nsecond thing\n\nfailed thing\n" * 5 + f"{number}\n", f"odd{number}.log")
    monkeypatch.setattr(logs_health, "LOOKED_AT", 8)
    monkeypatch.setattr(logs_health, "SHOWN", 2)
    found = figures(client)
    section = "Logs read in the last 7 days"
    assert found[section, "Logs"] == 9
    assert found[section, "Entries in them, of the 8 read last"] > 0
    assert len([label for one, label in found if one == "Last events, 2 of 9 logs"]) == 2
    *told, more = [text for text, _ in problems(client)]
    assert len(told) == 2
    assert more == ("6 more logs have no time or level that is known. Of 9 logs, the 8 read last were looked at.")
    long_ago = times.add(times.now(), days=-30)
    ids = [row["id"] for row in client.get("sources").json["data"]]
    with client.service.call().transaction() as db:
        for status, some in (("error", ids[:4]), ("missing", ids[4:])):
            values = {"status": status, "last_error": "Away.", "reading": None, "imported_at": long_ago}
            db.execute(update(sources).where(sources.c.id.in_(some)).values(**values))
    told = [text for text, _ in problems(client)]
    assert (len(told), told[-1]) == (3, "2 more logs are not read.")


def test_failed_jobs_of_the_last_day_count(client: Client) -> None:
    call = client.service.call()
    with call.transaction() as db:
        for _ in range(2):
            call.enqueue("import", node="elsewhere")
        began, ended = times.add(times.now(), days=-2), times.add(times.now(), seconds=-3600)  # a long job
        db.execute(update(tables.jobs).values(status="failed", run_at=began, finished_at=ended, dedupe=None))
    assert problems(client) == [("2 jobs failed in the last 24 hours.", {"view": "jobs", "status": "failed"})]
    with call.transaction() as db:
        db.execute(update(tables.jobs).values(finished_at=times.add(times.now(), days=-2)))
    assert problems(client) == []


def test_a_channel_that_does_not_deliver_is_named_where_its_plugin_is_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.enable("alerting")
    body = {"name": "On call", "type": "webhook", "url": "https://93.184.216.34/hook"}
    assert client.post("alert-channels", body).status == 201
    with client.service.call().transaction() as db:
        db.execute(update(channels).values(last_status="failed", last_error="refused"))
    assert problems(client) == [("The channel On call does not deliver: refused.", {"view": "alerts"})]
    monkeypatch.setattr(channels_health, "SHOWN", 1)
    assert client.post("alert-channels", body | {"name": "Team"}).status == 201
    with client.service.call().transaction() as db:
        db.execute(update(channels).values(last_status="failed", last_error="refused"))
    assert [text for text, _ in problems(client)] == [
        "The channel On call does not deliver: refused.",
        "1 more channel does not deliver.",
    ]
    client.enable("alerting", on=False)
    assert problems(client) == []


def test_checks_that_fail_are_problems(kernel: Kernel) -> None:
    with kernel(health__min_free_bytes=2**62) as client:
        [problem] = client.get("health-details").json["problems"]
        assert problem["text"] == "The disk is nearly full, or the data directory may not be written to."
        assert problem["step"].startswith("Free disk space")


def test_plugins_add_figures_and_problems(install: Install, kernel: Kernel) -> None:
    def mine(call: Any) -> Any:
        def later() -> Any:
            with pytest.raises(RuntimeError):  # the transaction has ended
                _ = call.db
            return [Problem("Shelf empty.", "Fill it.")]

        return [Figure("Mine", "Beans", 3), Problem("Out of beans.", "Buy some."), later]

    def fail(call: Any) -> Any:
        raise ServiceError("no")

    install("good", health_details=mine)
    install("bad", health_details=fail)
    with kernel() as client:
        assert problems(client) == []  # neither is on
        client.enable("good")
        client.enable("bad")
        assert problems(client) == [
            ("Out of beans.", None),
            ("Shelf empty.", None),
        ]  # the failure of the other harms nothing
        assert figures(client)["Mine", "Beans"] == 3


def test_who_may_read_nothing_is_refused(sqlite_client: Client) -> None:
    nobody = Client(sqlite_client.service, lambda environ, application: Actor("7", "No", ()))
    assert nobody.get("health-details").status == 403


def test_a_folder_is_summed_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_bytes(b"x" * 10)
    monkeypatch.setattr(details, "MAX_FILES", 3)
    assert details._size(tmp_path) == (30, False)
    monkeypatch.setattr(details, "MAX_FILES", 6)
    os.symlink(tmp_path, tmp_path / "ring")
    assert details._size(tmp_path) == (50, True)


def test_the_sum_of_one_application_does_not_wait_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = details._Sizes()
    (tmp_path / "slow").mkdir()
    (tmp_path / "quick").mkdir()
    summed = details._size

    def nested(folder: Path) -> tuple[int, bool]:
        if folder.name == "slow":  # while this one is being summed up
            assert within(lambda: sizes.of(tmp_path / "quick")) == (0, True)
        return summed(folder)

    monkeypatch.setattr(details, "_size", nested)
    assert sizes.of(tmp_path / "slow") == (0, True)


def within(asked: Callable[[], Any]) -> Any:
    """What another thread gets within some seconds."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asked).result(timeout=10)


def test_the_application_that_is_asked_for_counts(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        client = Client(service)
        client.post("applications", {"name": "Other"})
        client.feed(lines("ERROR", 3))
        assert figures(client)["Events", "In 24 hours"] == 3
        other = client.get("health-details", app="other").json["figures"]
        assert {one["label"]: one["value"] for one in other}["In 24 hours"] == 0
