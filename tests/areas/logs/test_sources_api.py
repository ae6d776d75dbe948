"""Sources and their raw text."""

import gzip
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.kernel import Actor
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import Ingestion, Reading, import_file
from snaglist.plugins.logs.show import feeds, raw_text
from snaglist.testing import Client, running_service

Line = Callable[..., str]


@pytest.fixture
def now_line() -> Line:
    """A line of a level that is some minutes old."""

    def line(level: str, minutes: float, text: str = "The invoice run stopped") -> str:
        at = datetime.now(UTC) - timedelta(minutes=minutes)
        return f"{at:%Y-%m-%d %H:%M:%S} {level} {text}\n"

    return line


def occurrence_ids(client: Client) -> list[int]:
    with client.service.call().transaction(write=False) as db:
        return list(db.execute(select(tables.occurrences.c.id).order_by(tables.occurrences.c.byte_start)).scalars())


def take_in(client: Client, path: Path) -> int:
    call = client.service.call()
    with call.transaction(write=False):
        settings = Ingestion.load(call)
    result = import_file(call, path.resolve(), Reading(settings.rules, "UTC"))
    assert result.source_id is not None
    return result.source_id


def test_sources_are_listed_newest_first(client: Client, drop: Any, line: Line) -> None:
    assert client.get("sources").json == {"data": [], "meta": {"total": 0, "page": 1, "limit": 12, "pages": 0}}
    for name in ("a.log", "b.log", "c.log"):
        drop(client.service, f"Web/{name}", line(name))
    client.post("import-incoming", wait="1")
    body = client.get("sources", limit=2).json
    assert body["meta"] == {"total": 3, "page": 1, "limit": 2, "pages": 2}
    first = body["data"][0]
    assert first["path"].startswith("applications/default/processed/web/")
    assert (first["module_name"], first["status"], first["encoding"]) == ("Web", "ok", "utf-8")
    assert (first["offset"], first["size"]) == (len(line("a.log")), len(line("a.log")))
    assert len(client.get("sources", limit=2, page=2).json["data"]) == 1
    assert client.get("sources", page=9).json["data"] == []
    for query in ({"limit": 0}, {"limit": 101}, {"page": 0}, {"page": "x"}):
        assert client.get("sources", **query).status == 422


def test_sources_show_what_came_lately_when_asked(client: Client, drop: Any, now_line: Any) -> None:
    """Newest events by hour, errors apart; older ones and those of other logs do not count."""
    busy = now_line("ERROR", minutes=130) + now_line("WARNING", minutes=70) + now_line("CRITICAL", minutes=70)
    drop(client.service, "busy.log", now_line("ERROR", minutes=60 * 30) + busy)
    drop(client.service, "quiet.log", now_line("ERROR", minutes=60 * 30))
    client.post("import-incoming", wait="1")
    assert {row["activity"] for row in client.get("sources").json["data"]} == {None}
    shown = {row["channel"]: row["activity"] for row in client.get("sources", activity=True).json["data"]}
    assert (sum(shown["busy.log"]["hours"]), shown["busy.log"]["errors"], shown["busy.log"]["complete"]) == (3, 2, True)
    assert (max(shown["busy.log"]["hours"]), len(shown["busy.log"]["hours"])) == (2, 24)
    assert (sum(shown["quiet.log"]["hours"]), shown["quiet.log"]["errors"]) == (0, 0)


def test_of_a_loud_log_the_newest_events_are_looked_at(client: Client, drop: Any, now_line: Any) -> None:
    drop(client.service, "loud.log", "".join(now_line("ERROR", minutes=9, text=f"{number}") for number in range(501)))
    client.post("import-incoming", wait="1")
    (source,) = client.get("sources", activity=True).json["data"]
    assert (source["activity"]["errors"], source["activity"]["complete"]) == (500, False)
    assert client.get("sources", activity="perhaps").status == 422


def test_97_the_source_of_an_event_is_exactly_its_bytes(client: Client, drop: Any, line: Line) -> None:
    entries = [line("erste Zeile: ü"), line("second", seconds=1) + "  more\n", line("third", seconds=2)]
    drop(client.service, "app.log", "".join(entries))
    client.post("import-incoming", wait="1")
    ids = occurrence_ids(client)
    for number, entry in enumerate(entries):
        body = client.get("source", occurrence=ids[number]).json
        assert body["content"] == entry
        assert body["byte_end"] - body["byte_start"] == len(entry.encode())
        assert (body["path"], body["before"], body["after"], body["truncated"]) == (
            "applications/default/processed/app.log", "", "", False,
        )  # fmt: skip
    around = client.get("source", occurrence=ids[1], context=1).json
    assert (around["before"], around["after"]) == (entries[0], entries[2])
    assert client.get("source", occurrence=999_999).status == 404
    for query in ({}, {"occurrence": 0}, {"occurrence": "x"}, {"occurrence": 1, "context": 101},
                  {"occurrence": 1, "source_id": 1}):  # fmt: skip
        assert client.get("source", **query).status == 422


def test_97_a_file_that_is_gone_or_other_is_404_without_a_path(client: Client, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one") + line("two", seconds=1))
    source = take_in(client, log)
    event = occurrence_ids(client)[1]
    assert client.get("source", occurrence=event).status == 200
    log.write_text(line("eno") + line("two", seconds=1))
    for query in ({"occurrence": event}, {"source_id": source}):
        answer = client.get("source", **query)
        assert (answer.status, answer.error) == (404, "Raw source is no longer available.")
    log.unlink()
    answer = client.get("source", occurrence=event)
    assert (answer.status, answer.error) == (404, "Raw source is no longer available.")
    log.write_text(line("one"))
    assert client.get("source", occurrence=event).status == 404


def test_68_compressed_sources_are_read_through_their_compression(sqlite_client: Client, drop: Any, line: Line) -> None:
    text = line("one") + line("two", seconds=1)
    drop(sqlite_client.service, "app.log.gz", gzip.compress(text.encode()))
    sqlite_client.post("import-incoming", wait="1")
    second = occurrence_ids(sqlite_client)[1]
    assert sqlite_client.get("source", occurrence=second, context=5).json["before"] == line("one")
    page = sqlite_client.get("source", source_id=1).json
    assert [shown["text"] for shown in page["lines"]] == text.splitlines()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_line_behind_a_byte_order_mark_belongs_to_its_event(
    sqlite_client: Client, tmp_path: Path, line: Line, encoding: str
) -> None:
    log = tmp_path / "app.log"
    log.write_bytes((line("first") + line("noise", "INFO", 1) + line("second", seconds=2)).encode(encoding))
    source = take_in(sqlite_client, log)
    first, second = occurrence_ids(sqlite_client)
    shown = sqlite_client.get("source", source_id=source).json["lines"]
    assert [one["occurrence"] for one in shown] == [first, None, second]
    assert shown[0]["offset"] == 0


@pytest.mark.servers
def test_a_whole_source_page_by_page(client: Client, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    noise = "".join(line(f"noise {n}", "INFO", n) for n in range(10))
    log.write_text(line("first") + noise + line("last", seconds=20) + "  with more\n")
    source = take_in(client, log)
    first, last = occurrence_ids(client)
    seen: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        page = client.get("source", source_id=source, offset=offset, lines=5).json
        assert page["offset"] == offset
        seen += page["lines"]
        offset = page["next_offset"]
    assert [shown["text"] for shown in seen] == log.read_text().splitlines()
    assert [shown["occurrence"] for shown in seen] == [first, *[None] * 10, last, last]
    assert page["size"] == log.stat().st_size
    inside = client.get("source", source_id=source, offset=len(line("first")) + 3, lines=1).json
    assert inside["offset"] == len(line("first"))
    tail = client.get("source", source_id=source, tail="true", lines=2).json
    assert [shown["text"] for shown in tail["lines"]] == log.read_text().splitlines()[-2:]
    assert (tail["next_offset"], tail["lines"][0]["occurrence"]) == (None, last)
    past = client.get("source", source_id=source, offset=10**9).json
    assert (past["lines"], past["next_offset"]) == ([], None)
    assert client.get("source", source_id=999).status == 404


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("scan", [8, 64, 256 * 1024])
def test_a_page_from_a_line(sqlite_client: Client, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch,
                            scan: int, encoding: str) -> None:  # fmt: skip
    """Lines count from 1, however the file is cut while it is read."""
    monkeypatch.setattr(raw_text, "_SCAN", scan)
    log = tmp_path / "app.log"
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    log.write_bytes((mark + "".join(line(f"ün {n}", seconds=n) for n in range(9)) + "no end").encode(encoding))
    source = take_in(sqlite_client, log)
    whole = sqlite_client.get("source", source_id=source).json["lines"]
    assert len(whole) == 10
    for number in range(1, 11):
        page = sqlite_client.get("source", source_id=source, line=number, lines=2).json
        assert page["lines"] == whole[number - 1 : number + 1]
    assert sqlite_client.get("source", source_id=source, line=11).json["lines"] == whole[9:]
    for more in ({"offset": 5}, {"tail": "true"}):
        refused = sqlite_client.get("source", source_id=source, line=2, **more)
        assert (refused.status, refused.error) == (422, "line: cannot be given together with offset or tail")


@pytest.mark.servers
def test_a_page_from_the_next_or_previous_event(client: Client, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    levels = ("ERROR", "INFO", "WARNING", "CRITICAL", "INFO", "ERROR")
    log.write_text("".join(line(f"n{n}", level, n) for n, level in enumerate(levels)))
    source = take_in(client, log)
    places = [one["offset"] for one in client.get("source", source_id=source).json["lines"]]

    def ask(which: str, offset: int, **query: Any) -> Any:
        return client.get("source", source_id=source, event=which, offset=offset, numbered="true", **query)

    assert [ask("next", places[n]).json["line"] for n in (0, 1, 3)] == [4, 4, 6]
    assert [ask("previous", places[n]).json["line"] for n in (5, 4, 3)] == [4, 4, 1]
    assert ask("next", places[0], level="warning").json["offset"] == places[2]
    none = ask("next", places[5])
    assert (none.status, none.error.endswith("after this place is ERROR or worse.")) == (404, True)
    assert ask("next", 0, line=3).status == 422


def test_pages_of_lines_longer_than_a_page(sqlite_client: Client, tmp_path: Path, line: Line,
                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(raw_text, "MAX_CONTENT", 100)
    log = tmp_path / "app.log"
    log.write_text(line("x" * 500) + line("short", seconds=1))
    source = take_in(sqlite_client, log)
    page = sqlite_client.get("source", source_id=source).json
    assert (len(page["lines"]), len(page["lines"][0]["text"]), page["next_offset"]) == (1, 100, len(line("x" * 500)))
    event = occurrence_ids(sqlite_client)[0]
    cut = sqlite_client.get("source", occurrence=event).json
    assert (len(cut["content"]), cut["truncated"]) == (100, True)


@given(
    st.lists(st.text(alphabet="ab\u0a0a\u010aü", max_size=6), max_size=8),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
)
def test_lines_are_cut_behind_each_line_feed(lines: list[str], encoding: str) -> None:
    """In two-byte encodings the bytes of other characters may look like a line feed."""
    data = "\n".join(lines).encode(encoding)
    pieces = feeds.split_lines(data, feeds.line_feed(encoding))
    assert b"".join(pieces) == data
    assert [piece.decode(encoding).removesuffix("\n") for piece in pieces] == "\n".join(lines).split("\n")[
        : len(pieces)
    ]


def test_a_path_outside_is_shown_by_base_name_to_viewers(tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    with running_service(tmp_path / "data") as service:
        take_in(Client(service), log)
        viewer = Client(service, lambda *_: Actor("v", "V", ("viewer",)))
        assert viewer.get("sources").json["data"][0]["path"] == "app.log"
        assert Client(service).get("sources").json["data"][0]["path"] == str(log)


def test_another_node_is_named(database_config: dict[str, str], tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    with running_service(tmp_path / "one", server__node="web-1", **database_config) as service:
        take_in(Client(service), log)
        on_server = service.database.engine_name != "sqlite"
    with running_service(tmp_path / "one", server__node="web-2", **database_config) as service:
        client = Client(service)
        answer = client.get("source", occurrence=occurrence_ids(client)[0])
        if on_server:
            assert (answer.status, answer.error) == (404, "Raw source is on node web-1.")
        else:  # one SQLite file belongs to one machine, whatever it is called
            assert answer.status == 200
    with running_service(
        tmp_path / "one", server__node="web-2", server__shared_data=True, **database_config
    ) as service:
        client = Client(service)
        assert client.get("source", occurrence=occurrence_ids(client)[0]).status == 200


def test_a_large_offset_in_a_long_line_is_found(sqlite_client: Client, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("first") + line("y" * 600_000, seconds=1))
    source = take_in(sqlite_client, log)
    page = sqlite_client.get("source", source_id=source, offset=500_000, lines=1).json
    assert page["offset"] == len(line("first"))
    assert os.path.getsize(log) == page["size"]
