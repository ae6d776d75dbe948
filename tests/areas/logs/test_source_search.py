"""`source-search`: a search in the raw lines of the recorded files that are still there, in steps."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel import Actor
from snaglist.plugins.logs.grep import matching, narrowing, stepping
from snaglist.testing import Client, running_service

Line = Callable[..., str]
DAY = "2026-01-{:02d} 10:00:00"


def dated(day: int, text: str, level: str = "INFO") -> str:
    return f"[{DAY.format(day)}] shop.{level}: {text}\n"


def search(client: Client, pattern: str, **query: Any) -> dict[str, Any]:
    """All steps of a search as one answer."""
    answer: dict[str, Any] = client.get("source-search", pattern=pattern, **query).json
    steps = 1
    while answer["cursor"] is not None:
        more = client.get("source-search", pattern=pattern, cursor=answer["cursor"], **query).json
        assert more["progress"]["bytes"] >= answer["progress"]["bytes"]
        more["hits"][:0], more["unsearched"][:0] = answer["hits"], answer["unsearched"]
        answer, steps = more, steps + 1
    return {**answer, "steps": steps}


def texts(answer: dict[str, Any]) -> list[str]:
    return [hit["text"] for hit in answer["hits"]]


@pytest.mark.servers
def test_a_hit_is_a_line_with_its_place_and_its_event(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("Order 17 paid", "INFO") + line("Order 17 failed", seconds=1) + "  at pay()\n" + line("end"))
    store.read(log)
    client = Client(store.service)
    found = client.get("source-search", pattern="Order 17").json
    paid, failed = found["hits"]
    assert (paid["line"], paid["offset"], paid["occurrence"], paid["issue_id"]) == (1, 0, None, None)
    assert (failed["line"], failed["offset"]) == (2, len(line("Order 17 paid", "INFO")))
    event = client.get("source", occurrence=failed["occurrence"]).json
    assert (event["byte_start"], event["group_id"]) == (failed["offset"], failed["issue_id"])
    assert (failed["level"], failed["path"], failed["source_id"]) == ("ERROR", str(log), 1)
    start, end = failed["matches"][0]
    assert failed["text"][start:end] == "Order 17"
    size = log.stat().st_size
    assert found["progress"] == {"files": 1, "all_files": 1, "bytes": size, "all_bytes": size, "searched_bytes": size,
                                 "path": None}  # fmt: skip
    (trace,) = client.get("source-search", pattern="at pay()", context=1).json["hits"]
    assert trace["occurrence"] == failed["occurrence"]
    assert [text.split(": ")[1:] for text in (*trace["before"], *trace["after"])] == [["Order 17 failed"], ["end"]]
    page = client.get("source", source_id=1, offset=trace["offset"], lines=1, numbered="true").json
    assert (page["line"], trace["line"]) == (3, 3)


def test_all_files_are_searched_the_newest_source_first_and_compressed_ones(
    sqlite_store: Any, tmp_path: Path, line: Line
) -> None:
    (tmp_path / "a.log").write_text(line("needle in a"))
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(line("needle in b").encode()))
    (tmp_path / "c.log").write_bytes(line("needle ü in c").encode("utf-16"))
    for name in ("a.log", "b.log.gz", "c.log"):
        sqlite_store.read(tmp_path / name)
    client = Client(sqlite_store.service)
    assert [text.split(": ")[1] for text in texts(search(client, "needle"))] == [
        "needle ü in c", "needle in b", "needle in a"
    ]  # fmt: skip
    assert [hit["source_id"] for hit in search(client, "NEEDLE Ü", ignore_case="true")["hits"]] == [3]
    assert [hit["source_id"] for hit in search(client, "in [ab]$", regex="true")["hits"]] == [2, 1]
    assert [hit["source_id"] for hit in search(client, "needle", source="b.log")["hits"]] == [2]
    assert [hit["source_id"] for hit in search(client, "needle", source_id=1)["hits"]] == [1]
    assert search(client, "needle", source="nowhere")["progress"]["all_files"] == 0


@pytest.mark.parametrize("name", ["app.log", "app.log.gz"])
def test_steps_find_what_one_step_finds(
    sqlite_store: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "BLOCK", 512)
    monkeypatch.setattr(stepping, "SECONDS", 60)
    lines = [dated(1, f"entry {number} {'hit' if number % 800 == 0 else ''}") for number in range(8000)]
    data = "".join(lines).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    sqlite_store.read(tmp_path / name)
    client = Client(sqlite_store.service)
    whole = search(client, "hit", context=2, level="INFO")
    assert whole["steps"] == 1 and [hit["line"] for hit in whole["hits"]] == list(range(1, 8001, 800))
    assert {len(hit["before"]) for hit in whole["hits"][1:]} == {2}
    stepped = search(client, "hit", limit=3, context=2, level="INFO")
    assert stepped["hits"] == whole["hits"] and stepped["steps"] == 4
    assert stepped["progress"] == whole["progress"]
    monkeypatch.setattr(stepping, "SECONDS", 0)
    hurried = search(client, "hit", context=2, level="INFO")
    assert hurried["hits"] == whole["hits"] and hurried["steps"] > 2
    assert search(client, "nothing")["steps"] > 2


def test_a_step_that_begins_within_an_entry_knows_its_level(sqlite_store: Any, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(dated(1, "broke", "DEBUG") + "".join(f"  at frame {n}\n" for n in range(9)))
    sqlite_store.read(tmp_path / "app.log")
    found = search(Client(sqlite_store.service), "frame", level="DEBUG", limit=1)
    assert {(hit["level"], hit["time"]) for hit in found["hits"]} == {("DEBUG", DAY.format(1))}
    assert (
        len(found["hits"]) == 9 and search(Client(sqlite_store.service), "frame", level="INFO", limit=1)["hits"] == []
    )


def test_what_cannot_be_searched_is_said(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    for name in ("gone.log", "other.log", "there.log"):
        (tmp_path / name).write_text(line(f"needle of {name}"))
        sqlite_store.read(tmp_path / name)
    (tmp_path / "gone.log").unlink()
    (tmp_path / "other.log").write_text(line("needle that was never read", seconds=5))
    (tmp_path / "never.log").write_text(line("needle of a file that is not recorded"))
    found = search(Client(sqlite_store.service), "needle")
    assert [text.split(": ")[1] for text in texts(found)] == ["needle of there.log"]
    gone = "Raw source is no longer available."
    assert [(one["path"], one["reason"]) for one in found["unsearched"]] == [
        (str(tmp_path / "other.log"), gone), (str(tmp_path / "gone.log"), gone),
    ]  # fmt: skip
    assert found["progress"]["files"] == 3


def test_a_line_is_judged_by_the_time_and_level_of_its_entry(sqlite_store: Any, tmp_path: Path) -> None:
    """Those of events that are not stored are read again: INFO is not stored here."""
    log = tmp_path / "app.log"
    log.write_text(
        dated(1, "Order 1") + dated(2, "Order 2", "ERROR") + "  of Order 2\n" + dated(3, "Order 3", "DEBUG")
        + "Order 3, more\n" + dated(4, "Order 4", "CRITICAL")
    )  # fmt: skip
    sqlite_store.read(log)
    client = Client(sqlite_store.service)

    def found(**query: Any) -> list[int]:
        return [hit["line"] for hit in search(client, "Order", **query)["hits"]]

    assert found(level="ERROR") == [2, 3, 6]
    assert found(level="debug") == [1, 2, 3, 4, 5, 6]
    assert found(since=DAY.format(2)) == [2, 3, 4, 5, 6]
    assert found(until=DAY.format(3)) == [1, 2, 3]
    assert found(since=DAY.format(2), until=DAY.format(4), level="info") == [2, 3]
    assert client.get("source-search", pattern="x", since=DAY.format(2), until=DAY.format(2)).status == 422


def test_lines_of_a_time_that_is_not_known_are_kept(sqlite_store: Any, tmp_path: Path) -> None:
    (tmp_path / "plain.log").write_text("needle without a time\nERROR: needle again\n")
    sqlite_store.read(tmp_path / "plain.log")
    found = search(Client(sqlite_store.service), "needle", since="2001-01-01")
    assert len(found["hits"]) == 2 and found["hits"][0]["time"] is None


def test_what_is_of_another_time_is_passed_over(
    sqlite_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrowing, "SMALL", 1000)
    monkeypatch.setattr(matching, "BLOCK", 512)
    log = tmp_path / "app.log"
    levels = {0: "ERROR"}  # the others are not stored
    log.write_text(
        "".join(dated(day, f"Order {n}", levels.get(n % 10, "INFO")) for day in range(1, 29) for n in range(1000))
    )
    sqlite_store.read(log)
    client = Client(sqlite_store.service)
    found = search(client, "Order 7", since=DAY.format(20), until=DAY.format(21), limit=1000)
    assert len(found["hits"]) == 111 and {hit["time"] for hit in found["hits"]} == {DAY.format(20)}
    progress = found["progress"]
    assert progress["searched_bytes"] < progress["all_bytes"] / 4
    assert found["hits"][0]["line"] is None  # nobody counted the lines before


@pytest.mark.parametrize(
    ("since", "until", "part"),
    [
        (None, None, (0, 100)),
        ("2026-01-03 00:00:00", None, (20, 100)),
        (None, "2026-01-03 00:00:00", (0, 40)),
        ("2026-01-03 00:00:00", "2026-01-03 12:00:00", (20, 60)),
        ("2026-01-09 00:00:00", None, (80, 100)),
        (None, "2025-01-01 00:00:00", (0, 0)),
    ],
)
def test_only_what_all_events_to_the_end_are_far_from_is_left_out(
    since: str | None, until: str | None, part: tuple[int, int]
) -> None:
    probes = [(0, DAY.format(1)), (20, DAY.format(2)), (40, DAY.format(3)), (60, DAY.format(4)), (80, DAY.format(5))]
    assert narrowing.narrowed(100, probes, since, until) == part
    # One event that is out of order keeps what is behind, or before it.
    late = [(0, DAY.format(9)), *probes[1:]]
    assert narrowing.narrowed(100, late, since, None)[0] == 0


def test_long_lines_are_cut_around_the_match(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    (tmp_path / "app.log").write_text(line("x" * 3000 + "needle" + "y" * 3000))
    sqlite_store.read(tmp_path / "app.log")
    (hit,) = search(Client(sqlite_store.service), "needle")["hits"]
    start, end = hit["matches"][0]
    assert (hit["cut"], len(hit["text"]), hit["text"][start:end]) == (True, stepping.MAX_TEXT, "needle")


def _hidden(_: Any, lines: Sequence[bytes], encoding: str, earlier: bytes = b"") -> list[str]:
    return [line.decode(encoding).rstrip("\n").replace("4111", "****") for line in lines]


def test_everything_shown_goes_through_one_function_and_what_it_hides_is_not_found(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.log").write_text(line("card 4111 of anna") + line("card 4222 of ben", seconds=1))
    sqlite_store.read(tmp_path / "app.log")
    client = Client(sqlite_store.service)
    monkeypatch.setattr(stepping, "shown_lines", _hidden)
    assert texts(search(client, "4111")) == []
    (hit,) = search(client, "anna", context=1)["hits"]
    assert "card **** of anna" in hit["text"]
    (hit,) = search(client, "ben", context=1)["hits"]
    assert "card **** of anna" in hit["before"][0]


def test_who_may_search_and_what_they_see(tmp_path: Path, line: Line, make_store: Any) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("needle"))
    with running_service(tmp_path / "data") as service:
        make_store(service).read(log)
        viewer = Client(service, lambda *_: Actor("v", "V", ("viewer",)))
        assert search(viewer, "needle")["hits"][0]["path"] == "app.log"
        assert search(viewer, "needle", source=str(tmp_path))["hits"] == []
        assert Client(service, lambda *_: Actor("n", "N", ())).get("source-search", pattern="x").status == 403


def test_what_is_refused(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    (tmp_path / "app.log").write_text("".join(line("needle", seconds=n) for n in range(5)))
    sqlite_store.read(tmp_path / "app.log")
    client = Client(sqlite_store.service)
    cursor = client.get("source-search", pattern="needle", limit=1).json["cursor"]
    for query in ({}, {"pattern": ""}, {"pattern": "x", "level": "loud"}, {"pattern": "x", "context": 21},
                  {"pattern": "(", "regex": "true"}, {"pattern": "other", "cursor": cursor},
                  {"pattern": "needle", "cursor": "AAAA"}, {"pattern": "x", "since": "soon"}):  # fmt: skip
        assert client.get("source-search", **query).status == 422, query
    assert client.get("source-search", pattern="x", source_id=99).status == 404
