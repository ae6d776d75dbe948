"""One file that cannot be read, for whatever reason, stops no other; on each of the three databases."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel import ServiceError, Unavailable
from snaglist.plugins.issues import tables
from snaglist.plugins.issues.learning import model
from snaglist.plugins.issues.learning import tables as learned
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect import drop_folder
from snaglist.plugins.logs.collect.command import make_reading
from snaglist.plugins.logs.collect.in_place import is_due
from snaglist.plugins.logs.maintain import reindexing
from snaglist.plugins.logs.read import file_import, importing
from snaglist.plugins.logs.read.parsing import FileChanged
from snaglist.plugins.system import Cancelled, JobCall
from snaglist.testing import Client

Line = Callable[..., str]


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> dict[str, Exception]:
    """What storing an event with a word in its message raises."""
    raising: dict[str, Exception] = {}
    store_events = file_import.store_events

    def store(call: Any, source: Any, events: Any, **options: Any) -> Any:
        for word, error in raising.items():
            if any(word in event.message for event in events):
                raise error
        return store_events(call, source, events, **options)

    monkeypatch.setattr(file_import, "store_events", store)
    return raising


@pytest.mark.parametrize("error", [StopIteration(), KeyError("x"), RecursionError(), ServiceError("refused")])
def test_the_others_are_read(client: Client, drop: Any, line: Line, poison: Any, error: Exception) -> None:
    poison["odd"] = error
    for name, message in (("a.log", "one"), ("b.log", "an odd one"), ("c.log", "two")):
        drop(client.service, name, line(message) * 2)
    body = client.post("import-incoming", wait="1").json
    assert (body["status"], body["files"], body["events"], body["processed"]) == ("succeeded", 2, 4, 2)
    (told,) = body["errors"]
    cause = "refused" if isinstance(error, ServiceError) else f"{type(error).__name__}: Internal error (reference "
    assert told["file"] == "b.log" and told["error"].startswith(cause)
    shown = {Path(row["path"]).name: row for row in client.get("sources").json["data"]}
    assert {name: row["status"] for name, row in shown.items()} == {"a.log": "ok", "b.log": "error", "c.log": "ok"}
    assert shown["b.log"]["last_error"] == told["error"]
    poison.clear()
    again = client.post("import-incoming", wait="1").json
    assert (again["files"], again["events"], again["errors"]) == (1, 2, [])


@pytest.mark.servers
def test_what_was_stored_of_it_before_stays(store: Any, tmp_path: Path, line: Line, poison: Any) -> None:
    poison["odd"] = StopIteration()
    path = tmp_path / "app.log"
    path.write_text("".join(line(f"part {n}", seconds=n % 50) for n in range(1_500)) + line("odd") + line("last"))
    first = store.read(path, final=True)
    assert (first.state, first.events) == ("failed", 1_000)
    assert store.count(tables.occurrences) == 1_000
    call = store.service.call()
    with call.transaction(write=False):
        assert not is_due(call, store.source(path))  # no schedule tries for ever what did not change
    poison.clear()
    assert store.read(path, final=True).events == 502
    assert store.source(path).status == "ok"
    store.check_counters()


@pytest.mark.servers
def test_a_file_that_never_stands_still(client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not told as read, and not archived unread."""

    def run(self: Any, watch: Any) -> None:
        raise FileChanged

    with monkeypatch.context() as changing:
        changing.setattr(file_import.FileImport, "run", run)
        file = drop(client.service, "a.log", line("one") * 2)
        body = client.post("import-incoming", wait="1").json
        assert (body["files"], body["events"], body["processed"]) == (0, 0, 0)
        assert "the next run tries again" in body["errors"][0]["error"]
        assert file.exists()
    with client.service.call(None, None).transaction(write=False) as db:
        assert [row.status for row in db.execute(select(log_tables.sources.c.status))] == ["error"]
    body = client.post("import-incoming", wait="1").json
    assert (body["files"], body["events"], body["processed"], body["errors"]) == (1, 2, 1, [])


def test_a_database_that_is_away_ends_the_run(
    client: Client, drop: Any, line: Line, poison: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no failure of a file."""
    poison["odd"] = Unavailable("The database is not available now; try again.")
    for name, message in (("a.log", "one"), ("b.log", "an odd one"), ("c.log", "two")):
        drop(client.service, name, line(message))
    monkeypatch.setattr(JobCall, "check_cancelled", lambda self: None)
    with pytest.raises(Unavailable):
        drop_folder.Incoming(JobCall(client.service, client.service.applications.all()[0])).read_dropped()
    assert all(row["status"] == "ok" for row in client.get("sources").json["data"])
    poison.clear()
    monkeypatch.undo()
    body = client.post("import-incoming", wait="1").json
    assert (body["events"], body["errors"]) == (2, [])


@pytest.mark.parametrize("error", [Cancelled(), OSError("the pipe is closed"), KeyError()])
def test_who_watches_may_stop_the_run(sqlite_store: Any, tmp_path: Path, line: Line, error: Exception) -> None:
    path = tmp_path / "app.log"
    path.write_text(line("one"))
    call = sqlite_store.service.call()
    reading, _ = make_reading(call, None, "UTC")

    def watch(_: int) -> None:
        raise error

    with pytest.raises(type(error)):
        importing.import_file(call, path, reading, watch=watch)
    assert sqlite_store.source(path).status == "ok"


def test_odd_lines_do_not_stop_an_import(
    client: Client, drop: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The second stage of grouping fails: all is stored, and a reindex learns what it could not."""
    slots = model.slots

    def failing(context: str, template: str) -> Any:
        if "Poller" in template:
            raise StopIteration
        return slots(context, template)

    monkeypatch.setattr(model, "slots", failing)
    names = ["Job-LoadRates", "Job-SaveBaskets", "SwitchPoller", "StockWatcher"]
    drop(
        client.service,
        "a.log",
        "".join(f"2026-02-11 07:30:15 ERROR The turn of {name} in the pack was lost\n" for name in names),
    )
    body = client.post("import-incoming", wait="1").json
    assert (body["events"], body["processed"], body["errors"]) == (4, 1, [])
    with client.service.call().transaction(write=False) as db:
        assert len(db.execute(learned.learned_later.select()).all()) == 1
    monkeypatch.setattr(model, "slots", slots)
    assert client.post("reindex", wait="1").status in (200, 202)
    with client.service.call().transaction(write=False) as db:
        assert db.execute(learned.learned_later.select()).all() == []
        assert [row["count"] for row in db.execute(tables.issues.select()).mappings()] == [4]
    assert len([r for r in caplog.records if "learning failed" in r.getMessage() and r.levelno >= logging.ERROR]) <= 1


def test_a_reindex_goes_on_behind_a_source_that_fails(
    client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, message in (("a.log", "one"), ("b.log", "an odd one"), ("c.log", "two")):
        drop(client.service, name, line(message))
    assert client.post("import-incoming", wait="1").json["events"] == 3
    reread = reindexing.reread_events

    def failing(call: Any, source: Any, *given: Any, **options: Any) -> Any:
        if source.path.endswith("b.log"):
            raise StopIteration
        return reread(call, source, *given, **options)

    monkeypatch.setattr(reindexing, "reread_events", failing)
    body = client.post("reindex", wait="1").json
    assert (body["files"], body["skipped"]) == (2, 1)
    (told,) = body["errors"]
    assert told["file"] == "b.log" and told["error"].startswith("StopIteration: Internal error")
