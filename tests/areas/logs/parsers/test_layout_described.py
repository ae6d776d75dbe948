"""What is said of the layout that a file was found to have."""

from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.logs import Reader
from snaglist.plugins.logs.own_formats.pattern import compiled

CORPUS = Path(__file__).parents[3] / "data" / "reading" / "tune"
NOW = "2026-01-03 10:00:00"


def layout_of(*lines: str) -> Any:
    """Return the layout of a file."""
    return Reader("".join(f"{line}\n" for line in lines).encode(), modified_at=NOW, now=NOW).layout


def java(count: int, level: str = "INFO") -> list[str]:
    """Return lines whose level stands third."""
    return [f"2026-01-02 07:30:{number:02},120 [worker-{number}] {level} shop.Cart - held" for number in range(count)]


def test_a_sentence_says_where_time_and_level_stand_and_what_has_neither() -> None:
    lines = [*java(40), *java(5, "WARN"), *java(4, "ERROR"), "a second line of it"]
    found = layout_of(*lines)
    assert found["sentence"] == (
        "time: 2026-01-02 07:30:00,120, position 1, 98 % of lines · level: position 3, ERROR WARN INFO"
        " · 2 % continuation"
    )
    assert found["format"] == "console"
    assert found["time"] == {"example": "2026-01-02 07:30:00,120", "position": 1, "share": 98}
    assert found["level"] == {"values": ["ERROR", "WARN", "INFO"], "position": 3, "share": 98}
    assert found["continuation"] == 2


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["WARN  [main] 2026-01-02 07:30:01,120 Pool.java:17 - full", "INFO  [main] 2026-01-02 07:30:02,120 a - b"],
            "time: 2026-01-02 07:30:01,120, position 3, 100 % of lines · level: position 1, WARN INFO",
        ),
        (
            ["[E][12:01:02.120] net.c:12: lost", "[I][12:01:03.120] net.c:14: found"],
            "time: 12:01:02.120, position 2, 100 % of lines · level: position 1, E I",
        ),
        (
            ["2026/01/02 07:30:01 [notice] it begins", "2026/01/02 07:30:02 refused by 10.0.0.7"],
            "time: 2026/01/02 07:30:01, position 1, 100 % of lines · level: position 2, notice",
        ),
        (["error: no such file", "warning: old option"], "level: position 1, error warning"),
        (["one fish", "two fish"], "plain text"),
        (['{"level": "error", "msg": "one"}', '{"level": "info", "msg": "two"}'], "format: json"),
    ],
)
def test_sentences(lines: list[str], sentence: str) -> None:
    assert layout_of(*lines)["sentence"] == sentence


def test_a_wrapper_is_said_first_and_how_many_streams_it_holds() -> None:
    inner = java(6, "ERROR")
    compose = layout_of(*(f"{name}-1  | {line}" for name in ("web", "db") for line in inner))
    assert compose["sentence"] == (
        "behind a name in front of each line, 2 streams · time: 2026-01-02 07:30:00,120, position 1, 100 % of lines"
        " · level: position 3, ERROR"
    )
    assert compose["wrapper"] == [{"format": "prefixed", "streams": 2, "time": ""}]
    syslog = [f"Jan  2 07:30:0{number} web1 shop[{number}]: the printer is warm" for number in range(5)]
    assert layout_of(*syslog)["sentence"] == "behind syslog (time: Jan  2 07:30:00), 1 stream · plain text"
    twice = layout_of(*(f"2026-01-02T07:30:01Z stdout F {line}" for line in syslog))
    assert [wrapper["format"] for wrapper in twice["wrapper"]] == ["container", "syslog"]


def test_its_expressions_are_a_start_for_a_format_of_ones_own() -> None:
    lines = [*java(8), *java(8, "ERROR")]
    (expression,) = layout_of(*lines)["expressions"]
    own = compiled(expression)  # or it could not be one
    found = [own.find(line) or {} for line in lines]
    assert {line[slice(*spans["level"])] for line, spans in zip(lines, found, strict=True)} == {"INFO", "ERROR"}
    assert lines[3][slice(*found[3]["time"])] == "2026-01-02 07:30:03,120"
    assert lines[3][slice(*found[3]["message"])] == "shop.Cart - held"
    assert "expressions" not in layout_of("error: one")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.log")), ids=lambda path: path.stem)
def test_all_expressions_can_be_formats_of_ones_own(path: Path) -> None:
    found = Reader(path.read_bytes(), modified_at=NOW, now=NOW).layout
    for expression in (found or {}).get("expressions", ()):
        assert {"time", "level", "message"} == set(compiled(expression).groups)


def test_a_file_without_lines_has_no_layout() -> None:
    assert layout_of() is None
    assert layout_of("", " ") is None
