"""Entries of formats that say themselves where an entry ends: what stands before the end belongs to it."""

from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import BUILT_IN, Parser, Reader

NOW = "2025-01-01 00:00:00"


class Quoted(Parser):
    """Rows `#level;"text"`, whose text may go over lines."""

    log_type = "quoted"

    def header(self, line: str) -> list[str] | None:
        return line[1:].split(";", 1) if line[:1] == "#" else None

    def incomplete(self, line: str, before: bool) -> bool:
        return before != (line.count('"') % 2 == 1)

    def event(self, header: list[str], lines: Any, clock: Any) -> Event:
        return Event("\n".join([header[1], *lines]), severity=header[0])


def read(text: str) -> list[Event]:
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now=NOW, parsers=(*BUILT_IN, Quoted()))
    return [*reader.feed(data), *reader.close()]


def test_lines_of_other_formats_within_an_open_entry_belong_to_it() -> None:
    inner = '2024-05-01 10:00:00 ERROR not an entry\n{"level":"error","msg":"neither"}\nend"'
    first, second = read(f'#ERROR;"begin\n{inner}\n#INFO;"whole"\n')
    assert (first.message, first.severity) == (f'"begin\n{inner}', "ERROR")
    assert (second.message, second.severity) == ('"whole"', "INFO")


def test_behind_its_end_and_at_a_header_an_entry_is_over() -> None:
    events = read('#ERROR;"torn\n#INFO;"a"\n{"level":"error","msg":"alone"}\n#INFO;"b"\n')
    assert [event.message for event in events] == ['"torn', '"a"', "alone", '"b"']
