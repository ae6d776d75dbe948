"""Storing events: counters, samples, duplicates, reoccurrence, snooze."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, select, update

from snaglist.kernel import Call, key
from snaglist.kernel.service import Service
from snaglist.plugins.issues import (
    Event,
    ExceptionInfo,
    Frame,
    StoredBatch,
    change_status,
    facets,
    hookspecs,
    reoccurrence_times,
    tables,
)
from snaglist.plugins.issues.grouping import VERSION
from snaglist.plugins.issues.grouping.version_2 import key_of_version_2
from snaglist.plugins.issues.storing import places

pytestmark = pytest.mark.servers

NOON = "2026-01-03 12:00:00"


def at(time: str, message: str = "Order 1 failed", **more: Any) -> Event:
    return Event(message=message, occurred_at=f"2026-01-03 {time}", **more)


def test_a_new_issue_has_everything_of_its_latest_event(desk: Any) -> None:
    """Open without history, counters, sample."""
    stack = "app/orders.py:42 in charge"
    frames = [
        Frame("send", "lib/http.py", 9, in_app=False),
        Frame("charge", "app/orders.py", 42),
        Frame("main", "app/main.py", 7),
    ]
    raised = [ExceptionInfo("SocketError", "no route", []), ExceptionInfo("GatewayTimeout", "timeout", frames)]
    batch = desk.store(
        at("10:00:00", "Order 4711 failed", severity="WARNING"),
        at("11:59:59", "Order 4712 failed"),
        at(
            "11:59:59",
            "Order 4713  failed\nwith a second line",
            severity="CRITICAL",
            environment="staging",
            log_type="monolog",
            channel="shop.log",
            exceptions=raised,
            stack=stack,
            context='{"order":4713}',
            fingerprint="orders",
        ),
        at("11:00:00", "Order 4714 failed", fingerprint="orders"),
    )
    assert len(batch.stored) == 4 and batch.duplicates == 0
    issue_id = batch.stored[2].issue_id
    assert issue_id in batch.new_issues and batch.counts[issue_id] == (0, 2)
    issue = desk.issue(issue_id)
    assert (issue["origin"], issue["kind"], issue["status"]) == ("ingested", "error", "open")
    assert (issue["count"], issue["stored_occurrences"]) == (2, 2)
    assert (issue["first_seen"], issue["last_seen"]) == ("2026-01-03 11:00:00", "2026-01-03 11:59:59")
    assert issue["title"] == "Order 4713 failed"
    assert (issue["severity"], issue["severity_rank"]) == ("CRITICAL", 2)
    assert (issue["environment"], issue["log_type"], issue["channel"]) == ("staging", "monolog", "shop.log")
    assert (issue["exception_class"], issue["source_frame"]) == ("GatewayTimeout", "app/orders.py:42")
    message = "Order 4713  failed\nwith a second line"
    searched = ["Order 4713 failed", "GatewayTimeout", "app/orders.py:42", "shop.log", message]
    assert issue["search_text"] == key("\n".join(searched))
    assert desk.history(issue_id) == []
    (sample,) = desk.rows(tables.issue_samples, tables.issue_samples.c.issue_id == issue_id)
    assert (sample["message"], sample["stack"], sample["context"]) == (message, stack, '{"order":4713}')
    assert [exception["class"] for exception in sample["exceptions"]] == ["SocketError", "GatewayTimeout"]
    assert sample["exceptions"][1]["frames"][0] == {
        "function": "send",
        "file": "lib/http.py",
        "line": 9,
        "column": None,
        "in_app": False,
    }
    occurrence = desk.rows(tables.occurrences, tables.occurrences.c.id == issue["sample_occurrence_id"])[0]
    assert occurrence["byte_start"] == batch.stored[2].event.byte_start
    desk.check_counters()


def test_54_number_address_and_severity_do_not_part(desk: Any) -> None:
    """One issue, count 2, severity of the later event."""
    desk.store(
        at("10:00:00", "Mail 17 to ana@example.com bounced", severity="WARNING"),
        at("11:00:00", "Mail 18 to bob@example.org bounced", severity="CRITICAL"),
    )
    issue = desk.issue()
    assert (issue["count"], issue["severity"]) == (2, "CRITICAL")


def test_53_an_older_archive_changes_first_seen_and_count_only(desk: Any) -> None:
    desk.store(at("12:00:00", "Order 2 failed"))
    before = desk.issue()
    batch = desk.store(at("08:00:00", "Order 1 failed", severity="ALERT"))
    issue = desk.issue()
    assert (issue["count"], issue["first_seen"]) == (2, "2026-01-03 08:00:00")
    for name in ("title", "severity", "last_seen", "sample_occurrence_id", "search_text"):
        assert issue[name] == before[name]
    assert desk.rows(tables.issue_samples)[0]["message"] == "Order 2 failed"
    assert batch.changed_issues == set()
    desk.check_counters()


def test_of_equal_times_the_event_stored_last_is_shown(desk: Any) -> None:
    desk.store(at("12:00:00", "Order 1 failed"))
    batch = desk.store(at("12:00:00", "Order 2 failed"), at("12:00:00", "Order 3 failed"))
    assert desk.issue()["title"] == "Order 3 failed"
    assert batch.changed_issues == {desk.issue()["id"]}


def test_an_issue_with_the_same_text_as_before_is_not_changed(desk: Any) -> None:
    desk.store(at("12:00:00"))
    batch = desk.store(at("13:00:00"))
    assert batch.new_issues == set() and batch.changed_issues == set()
    assert batch.counts == {desk.issue()["id"]: (1, 2)}


def test_events_whose_place_is_known_are_duplicates(desk: Any) -> None:
    events = [at("12:00:00"), at("12:00:01"), at("12:00:02")]
    desk.store(*events)
    batch = desk.store(*events, move=False)
    assert (batch.duplicates, batch.stored, batch.counts) == (3, [], {})
    more = at("12:00:03", byte_start=1000, byte_end=1100)
    batch = desk.store(more, at("12:00:04", byte_start=1000, byte_end=1100), events[1], move=False)
    assert (batch.duplicates, len(batch.stored)) == (2, 1)
    other = desk.store(at("12:00:05"), source=desk.add_source("logs/other.log"), move=False)
    assert (other.duplicates, len(other.stored)) == (0, 1)
    desk.check_counters()


def test_events_whose_id_is_known_are_duplicates_in_all_sources(desk: Any) -> None:
    desk.store(at("12:00:00", event_id="a1"), at("12:00:01", event_id="a2"), at("12:00:02", event_id="a1"))
    assert desk.issue()["count"] == 2
    batch = desk.store(at("12:00:03", event_id="a2"), at("12:00:04", event_id="a3"), source=desk.add_source("b"))
    assert (batch.duplicates, len(batch.stored)) == (1, 1)
    desk.check_counters()


def test_49_a_later_event_brings_a_fixed_issue_back_once(desk: Any) -> None:
    """An event later than the fix brings an issue back; one of the same second is not later."""
    issue_id = fixed(desk, at_time=NOON)
    batch = desk.store(at("11:00:00"), at("12:00:00"))
    assert (desk.issue()["status"], desk.issue()["count"]) == ("fixed", 3)
    assert batch.reoccurred_issues == set()
    batch = desk.store(at("12:00:05", release="v2"), at("12:00:01"), at("11:30:00"))
    issue = desk.issue()
    assert batch.reoccurred_issues == {issue_id}
    assert issue["status"] == "reoccurred" and issue["status_updated_at"] is not None
    assert issue["fixed_at"] == NOON
    rows = [row for row in desk.history(issue_id) if row["event"] == "reoccurrence"]
    assert [(row["from_status"], row["to_status"], row["actor"]) for row in rows] == [("fixed", "reoccurred", None)]
    assert "2026-01-03 12:00:01" in rows[0]["note"]
    with desk.call(write=False) as call:
        assert reoccurrence_times(call.db, issue_id) == ["2026-01-03 12:00:01"]
    desk.store(at("12:30:00"))
    assert len(desk.history(issue_id)) == 2
    desk.check_counters()


@pytest.mark.parametrize("status", ["open", "in_progress", "wont_fix", "reoccurred"])
def test_52_other_statuses_are_not_changed_by_events(desk: Any, status: str) -> None:
    issue_id = desk.store(at("10:00:00")).stored[0].issue_id
    with desk.call() as call:
        change_status(call, issue_id, status)
    desk.store(Event(message="Order 1 failed", occurred_at="2099-01-01 00:00:00"))
    assert desk.issue()["status"] == status
    assert len(desk.history(issue_id)) == 1


def test_events_that_are_read_again_bring_nothing_back(desk: Any) -> None:
    fixed(desk, at_time=NOON)
    desk.store(at("13:00:00"), reoccur=False)
    assert (desk.issue()["status"], desk.issue()["count"]) == ("fixed", 2)


def test_a_release_older_than_the_fix_brings_nothing_back(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a plugin that knows the order of releases."""
    fixed(desk, at_time=NOON, release="v2")
    asked: list[tuple[str, str, str]] = []

    def compare(call: Call, one: str, other: str, environment: str) -> int | None:
        asked.append((one, other, environment))
        return None if one == "main" else (one > other) - (one < other)

    calls = desk.service.plugins.calls
    # `issues` stands for a plugin that is enabled, `absent` for one that is not.
    asking = [(SimpleNamespace(id=name), asks) for name, asks in (("issues", compare), ("absent", never))]
    monkeypatch.setattr(
        desk.service.plugins, "calls", lambda hook: asking if hook is hookspecs.compare_releases else calls(hook)
    )
    desk.store(at("13:00:00", release="v1"))
    assert desk.issue()["status"] == "fixed"
    assert asked == [("v1", "v2", "production")]
    desk.store(at("13:00:01", release="v1"), at("13:00:02", release="v2"))
    assert desk.issue()["status"] == "reoccurred"


def never(*_: object) -> int:
    raise AssertionError("a disabled plugin was asked")


@pytest.mark.parametrize("release", [None, "v1", "main"])
def test_without_an_order_of_releases_every_later_event_counts(desk: Any, release: str | None) -> None:
    """Only where the releases can be compared."""
    fixed(desk, at_time=NOON, release="v2")
    desk.store(at("13:00:00", release=release))
    assert desk.issue()["status"] == "reoccurred"


def test_a_snooze_counts_down_and_ends(desk: Any) -> None:
    issue_id = desk.store(at("10:00:00")).stored[0].issue_id
    with desk.call() as call:
        call.db.execute(update(tables.issues).values(snooze_count=5))
    for events, left in ((2, 3), (2, 1), (3, None), (1, None)):
        desk.store(*(at("10:00:01") for _ in range(events)))
        assert desk.issue(issue_id)["snooze_count"] == left


def test_issues_are_parted_by_module(desk: Any) -> None:
    """The module is part of the key and of the new issue."""
    with desk.call() as call:
        module_id = call.db.execute(
            tables.modules.insert().values(
                name="Shop",
                name_key="shop",
                slug="shop",
                color="#000000",
                created_at=NOON,
                updated_at=NOON,
            )
        ).inserted_primary_key[0]
    desk.store(at("10:00:00"))
    desk.store(at("10:00:00"), source=desk.add_source("shop.log", module_id))
    assert [issue["module_id"] for issue in desk.rows(tables.issues)] == [None, module_id]
    assert [row["module_id"] for row in desk.rows(tables.groupings)] == [None, module_id]


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("  one \t two\r\nthree", "one two"),
        ("\n\n first", "first"),
        ("x" * 180, "x" * 180),
        ("x" * 181, "x" * 179 + "…"),
        ("é" * 500, "é" * 179 + "…"),
        ("", "Broken"),
        (" \n ", "Broken"),
    ],
)
def test_the_title_is_the_first_line(sqlite_desk: Any, message: str, title: str) -> None:
    """White space collapsed, at most 180 characters."""
    sqlite_desk.store(at("10:00:00", message, exceptions=[ExceptionInfo("Broken")]))
    assert sqlite_desk.issue()["title"] == title


def test_long_texts_are_cut_and_flagged(desk: Any) -> None:
    fits = at("10:00:00", "a" * 120_000, stack="b" * 120_000, context="c" * 12_000, fingerprint="fits")
    long = at("10:00:00", "a" * 120_001, stack="b" * 120_001, context="c" * 12_001, fingerprint="long")
    batch = desk.store(fits, long, at("10:00:00", truncated=True, fingerprint="said"))
    flags = [row["truncated"] for row in desk.rows(tables.occurrences)]
    assert flags == [False, True, True]
    (sample,) = desk.rows(tables.issue_samples, tables.issue_samples.c.issue_id == batch.stored[1].issue_id)
    assert [len(sample[name]) for name in ("message", "stack", "context")] == [120_000, 120_000, 12_000]
    assert len(desk.rows(tables.occurrences)[1]["context_preview"]) == 12_000


def test_samples_are_stored_compressed(desk: Any) -> None:
    """Each event rewrites the sample of its issue: what is written for it is small, and comes back as it was."""
    frames = [Frame(f"step_{n}", f"app/orders_{n}.py", n) for n in range(50)]
    stack = "\n".join(f"app/orders_{n}.py:{n} in step_{n}" for n in range(200))
    events = [
        at("10:00:00", stack=stack, exceptions=[ExceptionInfo("E", "é", frames)], fingerprint=f"{n}") for n in range(9)
    ]
    desk.store(*events)
    sample = tables.issue_samples.c
    with desk.call(write=False) as call:
        sizes = call.db.execute(select(func.length(sample.stack), func.length(sample.exceptions))).all()
    assert len(sizes) == 9 and all(0 < size[0] < len(stack) / 2 and 0 < size[1] < 2_000 for size in sizes)
    for row in desk.rows(tables.issue_samples):
        assert (row["stack"], row["context"], len(row["exceptions"][0]["frames"])) == (stack, None, 50)
        assert row["exceptions"][0]["message"] == "é"


def test_hostile_text_never_stops_a_batch(desk: Any) -> None:
    """U+0000, lone surrogates and over-long fields are stored on every database."""
    bad = "a\0b\ud800c😀"
    hostile = at(
        "10:00:00",
        bad,
        stack=bad,
        context=bad,
        channel=bad + "c" * 300,
        environment=bad + "e" * 300,
        release=bad + "r" * 300,
        server_name=bad + "s" * 300,
        event_id=bad + "i" * 300,
        exceptions=[ExceptionInfo(bad + "X" * 300, bad, [Frame(bad, bad + "f" * 2000, 3)])],
    )
    desk.store(hostile, at("10:00:01"))
    issue = next(row for row in desk.rows(tables.issues) if row["title"] != "Order 1 failed")
    assert issue["title"] == "a\ufffdb\ufffdc😀"
    assert len(issue["channel"]) == 255 and len(issue["source_frame"]) == 1000
    assert desk.store(hostile, move=False).duplicates == 1
    desk.check_counters()


def test_an_event_without_a_time_has_the_time_of_receipt(desk: Any) -> None:
    desk.store(Event(message="x"))
    (row,) = desk.rows(tables.occurrences)
    assert (row["occurred_at"], row["time_source"]) == (row["received_at"], "received")


def test_facets_count_values_and_the_rest_as_other(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bounded number of values per issue and facet."""
    monkeypatch.setattr(facets, "MAX_VALUES", 3)
    desk.store(at("10:00:00", release="r1"), at("10:00:01", release="r2"), at("10:00:02"))
    desk.store(*(at(f"11:00:0{n}", release=f"r{n}") for n in range(1, 7)))
    desk.store(at("12:00:00", release="r9"), at("12:00:01", release="r1"))
    column = tables.issue_facets.c
    counts = {row["value"]: row["count"] for row in desk.rows(tables.issue_facets, column.facet == "release")}
    assert counts == {"r1": 3, "r2": 2, "r3": 1, "(other)": 4}
    (environment,) = desk.rows(tables.issue_facets, column.facet == "environment")
    assert (environment["value"], environment["count"]) == ("production", 11)
    assert (environment["first_seen"], environment["last_seen"]) == ("2026-01-03 10:00:00", "2026-01-03 12:00:01")
    assert not desk.rows(tables.issue_facets, column.facet == "channel")
    desk.check_counters()


def test_an_older_generation_of_keys_finds_its_issue(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an upgrade of the key rules issues are not orphaned."""
    desk.store(at("10:00:00", "Order 1 failed"))
    newest = places.grouping_key

    def upgraded(event: Event, module_id: int | None) -> Any:
        before = newest(event, module_id)
        changed = type(before)(f"{before.key}|2", before.parts)
        changed.version = VERSION + 1
        return changed

    monkeypatch.setattr("snaglist.plugins.issues.storing.batch.grouping_key", upgraded)
    monkeypatch.setattr(places, "GENERATIONS", (upgraded, newest))
    batch = desk.store(at("11:00:00", "Order 2 failed"), at("11:00:00", "Something else entirely"))
    assert len(batch.new_issues) == 1
    versions = [(row["issue_id"], row["fingerprint_version"], row["count"]) for row in desk.rows(tables.groupings)]
    first = batch.stored[0].issue_id
    assert (first, VERSION, 1) in versions and (first, VERSION + 1, 1) in versions
    desk.check_counters()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("query failed: id in (?, ?, ?)", "query failed: id in (%s)"),
        ('sync broke err="no \\"a b\\" here"', 'sync broke err="no \\"c d\\" here"'),
    ],
)
def test_keys_of_version_2_find_their_issues(
    desk: Any, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    """What was stored by version 2 goes on in its issue, and so does what is the same since then."""
    with monkeypatch.context() as patch:
        patch.setattr("snaglist.plugins.issues.storing.batch.grouping_key", key_of_version_2)
        stored = desk.store(at("10:00:00", before))
    for batch in (desk.store(at("11:00:00", before)), desk.store(at("12:00:00", after))):
        assert not batch.new_issues
        assert batch.stored[0].issue_id == stored.stored[0].issue_id
    desk.check_counters()


def test_failures_that_version_2_took_for_one_get_issues_of_their_own(desk: Any) -> None:
    """A message in quotes was a value to version 2: all such messages were in the issue that the number is in."""
    desk.store(at("10:00:00", "77 gate=3"))
    batch = desk.store(at("11:00:00", '"Gate is stuck" gate=3'), at("11:00:00", '"Latch is worn" gate=4'))
    assert len(batch.new_issues) == 2
    titles = {row["title"] for row in desk.rows(tables.issues)}
    assert titles == {"77 gate=3", "Gate is stuck gate=3", "Latch is worn gate=4"}
    desk.check_counters()


def test_a_batch_has_at_most_1000_events(sqlite_desk: Any) -> None:
    with pytest.raises(ValueError, match="1000"):
        sqlite_desk.store(*(at("10:00:00") for _ in range(1001)))


def test_the_number_of_statements_does_not_depend_on_the_number_of_events(sqlite_desk: Any) -> None:
    """One transaction, multi-row statements, nothing per event and nothing over all issues."""

    def statements(hour: int, number: int) -> int:
        seen: list[str] = []
        mine = threading.get_ident()  # the worker has statements of its own

        def record(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if threading.get_ident() == mine:
                seen.append(statement)

        events = [at(f"{hour:02}:{n // 60:02}:{n % 60:02}", f"{'abcdefghij'[n % 10]} failed") for n in range(number)]
        event.listen(Engine, "before_cursor_execute", record)
        try:
            sqlite_desk.store(*events)
        finally:
            event.remove(Engine, "before_cursor_execute", record)
        return len(seen)

    statements(10, 1000)  # so many new rows that the statistics of SQLite are due next after some thousands more
    few, many = statements(11, 10), statements(12, 1000)
    assert few == many


def test_plugins_may_change_events_and_see_the_batch(
    sqlite_desk: Any, sqlite_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain `events_storing` comes before grouping, `events_stored` after all rows are there."""
    seen = []

    def chain(call: Call, hook: Any, value: Any, *rules: Any) -> Any:
        assert hook is hookspecs.events_storing
        return [at("10:00:00", "changed by a plugin")]

    def emit(call: Call, hook: Any, batch: StoredBatch) -> dict[str, Any]:
        seen.append((hook, batch.stored[0].event.message, call.db.in_transaction()))
        return {}

    monkeypatch.setattr(Call, "chain", chain)
    monkeypatch.setattr(Call, "emit", emit)
    sqlite_desk.store(at("10:00:00", "original"))
    assert sqlite_desk.issue()["title"] == "changed by a plugin"
    assert seen == [(hookspecs.events_stored, "changed by a plugin", True)]


def fixed(desk: Any, *, at_time: str, release: str | None = None) -> int:
    """Store one event and fix its issue at a time."""
    issue_id: int = desk.store(at("10:00:00")).stored[0].issue_id
    with desk.call() as call:
        call.now = at_time
        change_status(call, issue_id, "fixed", release=release)
    return issue_id


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"severity": "error"}, "severity: must be one of EMERGENCY"),
        ({"occurred_at": "2026-01-03T10:00:00Z"}, "occurred_at: must be like 2026-01-03 10:00:00"),
        ({"occurred_at": "yesterday"}, "occurred_at: must be like"),
        ({"occurred_at": "2026-02-30 10:00:00"}, "occurred_at: must be like"),
    ],
)
def test_an_event_that_no_answer_may_hold_is_refused(sqlite_desk: Any, fields: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sqlite_desk.store(Event("Order 1 failed", **fields))
    assert sqlite_desk.rows(tables.issues) == []
