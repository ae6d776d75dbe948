"""How many entries have a time and a level: with each result, each source, and what is said of few."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.logs import Reader
from snaglist.plugins.logs.read.tally import Tally, left_out, share
from snaglist.testing import Client, running_service

Line = Callable[..., str]
UNSURE = "the printer is warm\n"
STEP = "make a format for it (dashboard → Logs → Formats, or `snaglist formats`)"


def put(service: Any, name: str, text: str) -> None:
    """Write a file into the drop folder, one that seems to be old."""
    path = service.applications.all()[0].logs / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_run_and_a_source_say_how_much_is_known(client: Client, drop: Any, line: Line) -> None:
    text = line("one") + line("noise", "INFO", 1) + '{"time": "2026-01-03T10:00:03Z", "msg": "order 18 was printed"}\n'
    drop(client.service, "app.log", text)
    result = client.post("import-incoming", wait="1").json
    numbers = {"entries": 3, "with_time": 3, "with_level": 2, "unexplained": 0, "filtered": 2}
    assert {name: result[name] for name in numbers} == numbers
    assert result["filtered_as"] == "below WARNING"
    told = {"kind": "remark", "text": "1 of 3 entries have no level that is known"}
    assert result["remarks"] == [{"file": "app.log", **told}]
    (source,) = client.get("sources").json["data"]
    assert (source["reading"], source["remarks"], source["filtered_as"]) == (numbers, [told], "below WARNING")
    assert source["layout"]["sentence"] == "format: monolog"


def test_a_file_without_any_level_is_a_warning_with_the_next_step(client: Client, drop: Any) -> None:
    drop(client.service, "app.log", "".join(f"2026-01-03 10:00:0{second} order printed\n" for second in range(5)))
    result = client.post("import-incoming", wait="1").json
    text = f"no line of this file has a level that is known: {STEP}"
    assert result["remarks"] == [{"file": "app.log", "kind": "warning", "text": text}]


@pytest.mark.servers
def test_entries_that_are_read_again_count_once(store: Any, tmp_path: Path, line: Line) -> None:
    """A last entry that grows is one entry, whatever it is in the end; a reindex counts anew."""
    log = tmp_path / "app.log"
    log.write_text(UNSURE + line("one"))
    first = store.read(log)
    assert first.reading.document() == {"entries": 2, "with_time": 1, "with_level": 1, "unexplained": 1, "filtered": 1}
    with log.open("a") as stream:
        stream.write("  and what is more\n")
    assert store.read(log).reading == first.reading
    with log.open("a") as stream:
        stream.write(line("noise", "INFO", 2))
    grown = store.read(log)
    assert (grown.tally.entries, grown.tally.filtered) == (1, 1)
    assert store.source(log).reading == grown.reading.document()
    assert store.source(log).reading["entries"] == 3
    client = Client(store.service)
    again = client.post("reindex", wait="1").json
    assert {name: again[name] for name in grown.reading.document()} == grown.reading.document()
    assert store.source(log).reading == grown.reading.document()


PIECES = ["[2026-01-03 10:00:00] production.ERROR: late\n", "[2026-01-03 10:00:01] production.INFO: sent\n", UNSURE,
          "2026-01-03 10:00:02 refused\n", "Traceback (most recent call last):\n", '  File "a.py", line 1, in b\n',
          "KeyError: 1\n", "\n", '10.0.0.7 - - [03/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 17\n']  # fmt: skip


HEAD = "".join(PIECES[:2]) * 3  # what a file is like shows before it grows


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), st.lists(st.integers(1, 60), max_size=4))
def test_however_a_file_grows_it_is_counted_as_if_it_was_read_at_once(
    sqlite_store: Any, tmp_path_factory: pytest.TempPathFactory, pieces: list[str], cuts: list[int]
) -> None:
    text = HEAD + "".join(pieces)
    log = tmp_path_factory.mktemp("grown") / "app.log"
    place = 0
    for size in [len(HEAD), *cuts, len(text)]:
        with log.open("a") as stream:
            stream.write(text[place : place + size])
        place += size
        assert min(sqlite_store.read(log).tally.values()) >= 0
    source = sqlite_store.source(log)
    Client(sqlite_store.service).post("reindex", {"source_id": source.id}, wait="1")
    assert sqlite_store.source(log).reading == source.reading


def test_the_layout_of_a_reader_is_kept_and_shown(
    sqlite_client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = {"sentence": "time: position 1 · level: position 2", "parts": []}
    feed = Reader.feed

    def found(self: Reader, data: bytes) -> Any:
        monkeypatch.setattr(self, "layout", layout)
        return feed(self, data)

    monkeypatch.setattr(Reader, "feed", found)
    drop(sqlite_client.service, "app.log", line("one"))
    sqlite_client.post("import-incoming", wait="1")
    (source,) = sqlite_client.get("sources").json["data"]
    assert source["layout"] == layout


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ((0, 0, 0), []),
        ((4, 0, 4), [("remark", "4 of 4 entries have no time that is known")]),
        ((5, 0, 5), [("warning", f"no line of this file has a time that is known: {STEP}")]),
        ((5, 0, 0), [("warning", f"no line of this file has a time or a level that is known: {STEP}")]),
        ((10, 9, 9), []),
        ((100, 100, 89), [("remark", "11 of 100 entries have no level that is known")]),
        ((5000, 1, 5000), [("remark", "4,999 of 5,000 entries have no time that is known")]),
    ],
)
def test_remarks(numbers: tuple[int, int, int], told: list[tuple[str, str]]) -> None:
    assert [(one["kind"], one["text"]) for one in Tally(*numbers).remarks()] == told


def test_shares_and_what_is_left_out_in_words() -> None:
    assert [share(some, 1000) for some in (0, 1, 500, 999, 1000)] == ["0%", "1%", "50%", "99%", "100%"]
    assert share(0, 0) == ""
    assert left_out({"EMERGENCY", "ALERT"}) == "below ALERT"
    assert left_out({"EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "INFO"}) == "of the levels NOTICE, DEBUG"


def test_a_source_of_an_earlier_version_says_that_nothing_was_counted(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        put(service, "app.log", UNSURE)
        client = Client(service)
        client.post("import-incoming", wait="1")
        with service.call().transaction() as db:
            db.exec_driver_sql("UPDATE sources SET reading = NULL")
        (source,) = client.get("sources").json["data"]
        assert (source["reading"], source["remarks"], source["filtered_as"]) == (None, [], None)
