"""Reading again with today's parsers, settings and grouping, on all three databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from snaglist.kernel.store import get_setting
from snaglist.plugins.issues import Event, EventSource, change_status, hookspecs, store_events, tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.maintain import reindexing, stretches
from snaglist.plugins.logs.store import queries
from snaglist.plugins.system import JobCall
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

Line = Callable[..., str]


def reindex(client: Client, **body: Any) -> dict[str, Any]:
    answer = client.post("reindex", body, wait="1")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json
    return found


def test_50_a_fixed_issue_stays_fixed(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("Order 1 failed") + line("Order 2 failed", seconds=1))
    store.scan(tmp_path)
    call = client.service.call()
    with call.transaction():
        change_status(call, 1, "fixed", note="done")
    with call.transaction() as db:  # all of its events are later than the fix
        db.execute(update(tables.issues).values(fixed_at="2020-01-01 00:00:00"))
    before = [store.rows(table) for table in (tables.issues, tables.status_history, tables.occurrences)]
    body = reindex(client)
    assert (body["files"], body["events"], body["groups"], body["new_groups"], body["kept"]) == (1, 0, 1, 0, 0)
    assert [store.rows(table) for table in (tables.issues, tables.status_history, tables.occurrences)] == before
    store.check_counters()


def test_69_a_severity_that_is_added_appears_once(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("broken") + line("all is well", "INFO", 1) * 3)
    store.scan(tmp_path, zone=None)
    assert not client.get("ingestion-settings").json["reindex_needed"]
    more = ["ERROR", "INFO"]
    assert client.patch("ingestion-settings", {"severities": more}).json["reindex_needed"]
    body = reindex(client)
    assert (body["events"], body["new_groups"], body["filtered"], body["by_type"]) == (3, 1, 0, {"monolog": 3})
    assert not client.get("ingestion-settings").json["reindex_needed"]
    assert reindex(client)["events"] == 0
    counts = {row.title: row.count for row in store.rows(tables.issues)}
    assert counts == {"broken": 1, "all is well": 3}
    assert store.source(log).occurrence_count == 4
    store.check_counters()


def test_what_is_read_no_more_stays_counted_and_comes_back_uncounted(
    client: Client, store: Any, tmp_path: Path, line: Line
) -> None:
    """Events no longer stored stay counted where they were; widening again must not count them twice."""
    log = tmp_path / "app.log"
    log.write_text(line("broken") + line("careful", "WARNING", 1) * 2)
    store.scan(tmp_path, zone=None)
    client.patch("ingestion-settings", {"severities": ["ERROR"]})
    assert reindex(client)["filtered"] == 2
    warned = next(row for row in store.rows(tables.issues) if row.title == "careful")
    assert (warned.count, warned.stored_occurrences, warned.sample_occurrence_id) == (2, 0, None)
    assert (store.count(tables.occurrences), store.source(log).occurrence_count) == (1, 1)
    client.patch("ingestion-settings", {"severities": ["ERROR", "WARNING"]})
    assert reindex(client)["events"] == 2
    warned = next(row for row in store.rows(tables.issues) if row.title == "careful")
    assert (warned.count, warned.stored_occurrences) == (2, 2)
    store.check_counters()


def test_a_setting_changed_in_the_middle_of_a_file(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    """Only what was never counted is counted: the first half was read without INFO, the second with it."""
    log = tmp_path / "app.log"
    log.write_text(line("first half", "INFO"))
    store.scan(tmp_path, zone=None)
    client.patch("ingestion-settings", {"severities": ["ERROR", "INFO"]})
    with log.open("a") as stream:
        stream.write(line("second half", "INFO", 1))
    store.scan(tmp_path, zone=None)
    assert client.get("ingestion-settings").json["reindex_needed"]
    assert reindex(client)["events"] == 1
    assert [row.count for row in store.rows(tables.issues)] == [1, 1]
    store.check_counters()


@pytest.fixture
def regrouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Today's grouping tells messages apart by their length, which the day before it did not."""
    from snaglist.plugins.issues.storing import batch, places, rereading

    real = batch.grouping_key

    def other(event: Event, module_id: int | None) -> Any:
        return real(Event(f"length {'x' * len(event.message)}", family=event.family), module_id)

    for module in (batch, rereading):
        monkeypatch.setattr(module, "grouping_key", other)
    monkeypatch.setattr(places, "GENERATIONS", (other,))


def test_events_move_to_their_new_grouping(
    client: Client, store: Any, tmp_path: Path, line: Line, request: pytest.FixtureRequest
) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(line(f"Order {number} failed", seconds=number) for number in (1, 22, 3, 44, 5)))
    store.scan(tmp_path)
    (before,) = store.rows(tables.issues)
    ids = [row.id for row in store.rows(tables.occurrences)]
    request.getfixturevalue("regrouped")
    body = reindex(client)
    assert (body["events"], body["new_groups"]) == (0, 2)
    assert [row.id for row in store.rows(tables.occurrences)] == ids
    emptied, *others = store.rows(tables.issues)
    assert (emptied.id, emptied.count, emptied.stored_occurrences) == (before.id, 0, 0)
    assert sorted(row.count for row in others) == [2, 3]
    shown = {row.sample_occurrence_id for row in others}
    assert shown <= set(ids) and len(shown) == 2
    store.check_counters()


def test_a_key_known_by_an_older_version_keeps_its_issue(
    client: Client, store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triage and id stay when only the rules of the key changed, and no snooze is used up."""
    from snaglist.plugins.issues.storing import batch, places, rereading

    log = tmp_path / "app.log"
    log.write_text("".join(line(f"Order {number} failed", seconds=number) for number in range(3)))
    store.scan(tmp_path)
    with client.service.call().transaction() as db:
        db.execute(update(tables.issues).values(snooze_count=5))
    real = batch.grouping_key

    def newer(event: Event, module_id: int | None) -> Any:
        return real(Event("newer " + event.message, family=event.family), module_id)

    for module in (batch, rereading):
        monkeypatch.setattr(module, "grouping_key", newer)
    monkeypatch.setattr(places, "GENERATIONS", (newer, real))
    assert reindex(client)["new_groups"] == 0
    (issue,) = store.rows(tables.issues)
    assert (issue.id, issue.count, issue.stored_occurrences, issue.snooze_count) == (1, 3, 3, 5)
    assert sorted(row.count for row in store.rows(tables.groupings)) == [0, 3]
    store.check_counters()


def test_a_better_parser_shows_in_the_sample(
    client: Client, store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that stays where it is shows the text that is read today; rules run on it."""
    from snaglist.plugins.issues.storing import batch, places, rereading

    log = tmp_path / "app.log"
    log.write_text(line("Order 1 failed"))
    store.scan(tmp_path)
    client.post("tags", {"name": "Shouting", "match_word": "FAILED!"})
    real = stretches.make_reader

    class Louder:
        def __init__(self, reader: Any) -> None:
            self.reader = reader
            self.log_type, self.encoding, self.layout = reader.log_type, reader.encoding, reader.layout

        def feed(self, data: bytes) -> list[Event]:
            return [self.raise_voice(event) for event in self.reader.feed(data)]

        def close(self) -> list[Event]:
            return [self.raise_voice(event) for event in self.reader.close()]

        @staticmethod
        def raise_voice(event: Event) -> Event:
            event.message = event.message.upper() + "!"
            return event

    def same_key(event: Event, module_id: int | None) -> Any:
        return plain(Event(event.message.removesuffix("!").capitalize()), module_id)

    plain = batch.grouping_key
    monkeypatch.setattr(stretches, "make_reader", lambda *given, **more: Louder(real(*given, **more)))
    for module in (batch, rereading):
        monkeypatch.setattr(module, "grouping_key", same_key)
    monkeypatch.setattr(places, "GENERATIONS", (same_key,))
    reindex(client)
    (issue,) = store.rows(tables.issues)
    assert (issue.title, issue.count) == ("ORDER 1 FAILED!", 1)
    assert [row.message for row in store.rows(tables.issue_samples)] == ["ORDER 1 FAILED!"]
    assert [tag["name"] for tag in client.get("error", id=1).json["tags"]] == ["Shouting"]
    store.check_counters()


def test_89_a_rule_made_tag_that_was_taken_off_stays_off(
    client: Client, store: Any, tmp_path: Path, line: Line
) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("payment lost"))
    store.scan(tmp_path)
    tag = client.post("tags", {"name": "Money", "match_word": "payment"}).json["id"]
    assert client.get("error", id=1).json["tags"][0]["source"] == "rule"
    client.post("issue-tags", {"group_id": 1, "tag_id": tag, "action": "remove"})
    reindex(client)
    assert client.get("error", id=1).json["tags"] == []


def test_deleted_issues_stay_away(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    """Somebody removed the issue with its events: reading the same bytes again is no later event."""
    log = tmp_path / "app.log"
    log.write_text(line("unwanted") + line("wanted", seconds=1))
    store.scan(tmp_path)
    with client.service.call().transaction() as db:
        db.execute(tables.issues.delete().where(tables.issues.c.id == 1))
    assert reindex(client)["events"] == 0
    assert [row.title for row in store.rows(tables.issues)] == ["wanted"]


def test_a_file_that_is_gone_keeps_its_events(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one") + line("two", seconds=1))
    store.scan(tmp_path, zone=None)
    log.unlink()
    client.patch("ingestion-settings", {"severities": ["ALERT"]})
    body = reindex(client)
    assert (body["files"], body["skipped"], body["kept"]) == (0, 1, 2)
    assert store.count(tables.occurrences) == 2
    assert not client.get("ingestion-settings").json["reindex_needed"]  # there is nothing left to do


def test_the_open_entry_stays_open(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one") + line("two", seconds=1)[:-5])
    store.scan(tmp_path)
    assert [row.provisional for row in store.rows(tables.occurrences)] == [False, True]
    reindex(client)
    assert [row.provisional for row in store.rows(tables.occurrences)] == [False, True]
    with log.open("a") as stream:
        stream.write(line("two", seconds=1)[-5:] + line("three", seconds=2))
    assert store.scan(tmp_path) == 1
    assert store.count(tables.occurrences) == 3
    store.check_counters()


def test_a_guessed_time_is_not_guessed_again(client: Client, store: Any, tmp_path: Path) -> None:
    """Without a time in the line the file's age was taken; it must not move when the file has grown since."""
    import os

    log = tmp_path / "app.log"
    log.write_text("ERROR no time here\n")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    store.scan(tmp_path)
    os.utime(log, (1_710_000_000, 1_710_000_000))
    before = store.rows(tables.occurrences)
    assert before[0].time_source == "file"
    reindex(client)
    assert store.rows(tables.occurrences) == before
    store.check_counters()


def test_only_the_chosen_sources(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    for name in "ab":
        (tmp_path / f"{name}.log").write_text(line(f"quiet {name}", "INFO"))
    store.scan(tmp_path, zone=None)
    client.patch("ingestion-settings", {"severities": ["INFO"]})
    assert reindex(client, source_id=2)["events"] == 1
    assert [row.title for row in store.rows(tables.issues)] == ["quiet b"]
    assert client.get("ingestion-settings").json["reindex_needed"]
    assert client.post("reindex", {"source_id": 99}).status == 422
    assert client.post("reindex", {"module_id": 99}).status == 422
    assert client.post("reindex", {"source_id": "1"}).status == 422


def test_one_at_a_time(tmp_path: Path, database_config: dict[str, str]) -> None:
    with running_service(tmp_path / "data", jobs=False, **database_config) as service:
        client = Client(service)
        assert client.post("reindex").status == 202
        assert client.post("reindex").status == 409
        service.jobs.run_queued(service.applications.all()[0])
        assert client.post("import-incoming").status == 202
        assert client.post("reindex").status == 409


def test_a_killed_reindex_goes_on(
    store: Any, client: Client, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches are transactions that save the position: what was done is neither done nor counted again."""
    monkeypatch.setattr(stretches, "ENTRIES", 10)
    log = tmp_path / "app.log"
    log.write_text("".join(line(f"kind {n % 5} word", "INFO", n) for n in range(95)))
    store.scan(tmp_path, zone=None)
    client.patch("ingestion-settings", {"severities": ["INFO"]})
    service = client.service
    job = JobCall(service, service.applications.all()[0], actor=None, args={"source_id": None, "module_id": None})
    done: list[int] = []
    real = reindexing.reread_events

    def failing(*given: Any, **more: Any) -> Any:
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(given[2])
        return real(*given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(JobCall, "check_cancelled", lambda _: None)
        patch.setattr(reindexing, "reread_events", failing)
        with pytest.raises(KeyboardInterrupt):
            reindexing.run(job)
        assert store.count(tables.occurrences) == 40
        done.append(-1)
        body = reindexing.run(job)
    assert len(set(done)) == len(done) == 5 + 6
    assert (body["events"], body["files"]) == (95, 1)
    with service.call().transaction(write=False) as db:
        assert get_setting(db, reindexing.SETTING) == {}
    assert sum(row.count for row in store.rows(tables.issues)) == 95
    store.check_counters()


def test_a_file_that_was_only_read_in_part_is_read_as_far(
    client: Client, store: Any, tmp_path: Path, line: Line
) -> None:
    """Bytes behind the checkpoint are the import's; bytes before a copy's own are its original's."""
    log, copy = tmp_path / "app.log", tmp_path / "app.log.1"
    log.write_text(line("one", "INFO"))
    store.scan(tmp_path, zone=None)
    copy.write_text(log.read_text() + line("two", "INFO", 1))
    store.scan(tmp_path, zone=None)
    with log.open("a") as stream:
        stream.write(line("unread", "INFO", 2))
    client.patch("ingestion-settings", {"severities": ["INFO"]})
    assert reindex(client)["events"] == 2
    assert sorted(row.title for row in store.rows(tables.issues)) == ["one", "two"]


def test_pushed_events_are_grouped_again_from_their_text(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Ids and texts stay with the events; one whose text is gone stays as it is."""
    service = client.service
    call = service.call()
    path = "http-ingest/-/shop"
    with call.transaction() as db:
        row = {**queries.new_source(path, 1, "web-1"), "log_type": "http", "channel": "shop", "family": "shop"}
        row |= {"encoding": "utf-8", "timezone": "UTC", "parser_version": 1, "offset": 0}
        source = EventSource(queries.add_source(db, row), None, path)
        texts = {n: f"Order {'7' * n} failed" for n in (1, 2, 3)}
        events = [Event(text, occurred_at="2026-01-03 10:00:00", log_type="http", channel="shop", event_id=f"e{n}",
                        byte_start=n * 10, byte_end=n * 10 + 1) for n, text in texts.items()]  # fmt: skip
        store_events(call, source, events)
        ids = {n: db.execute(select(tables.occurrences.c.id).where(tables.occurrences.c.event_id == f"e{n}")).scalar()
               for n in texts}  # fmt: skip
        db.execute(
            log_tables.payloads.insert(), [{"occurrence_id": i, "codec": "zstd", "body": b"x"} for i in ids.values()]
        )
    texts_by_id = {ids[n]: text for n, text in texts.items() if n != 3}

    def read_back(call: Any, occurrence_id: int) -> Event | None:
        text = texts_by_id.get(occurrence_id)
        return Event(text, occurred_at="2026-01-03 10:00:00", log_type="http", channel="shop") if text else None

    calls = service.plugins.calls
    readers = [(None, read_back)]
    monkeypatch.setattr(
        service.plugins, "calls", lambda hook: readers if hook is hookspecs.read_occurrence else calls(hook)
    )
    request.getfixturevalue("regrouped")
    body = reindex(client)
    assert (body["files"], body["events"], body["kept"], body["new_groups"]) == (1, 0, 1, 2)
    rows = store.rows(tables.occurrences)
    assert [(row.id, row.event_id, row.byte_start) for row in rows] == [(ids[n], f"e{n}", n * 10) for n in texts]
    assert len({row.issue_id for row in rows}) == 3
    assert store.count(log_tables.payloads) == 3
    store.check_counters()
