"""Hostile lines: every expression and every parser takes linear time."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from snaglist.plugins.logs import parsers
from snaglist.plugins.logs.parsers import BUILT_IN, Reader

SIZE = 100_000
NOW = "2025-01-01 00:00:00"
UNITS = (
    "a", "A", "1", " ", "\t", ".", ":", "-", "/", "\\", "@", "=", "$", "<", "'", '"', "[", "]", "(", ")", "{", "}", "#",
    "a.", "A.", "1.", "1:", "::", "a:", "a=", "a=b ", '"" ', "[] ", "[a", "(a", "a b ", "at ", " at a.b(", "\\x0",
    "\x1b[", "\x1b]", "\x1b[0;", "key=\"", "| ", "+-", "1-1-", ":1:1", "a.b.c:1",
    "/x.rb:1:in `", " in /a:1", "}{", "\\\"",
)  # fmt: skip
STARTS = (
    "", "[2024-05-01 10:00:00] ", "2024-05-01 10:00:00 ", "2024-05-01 10:00:00 ERROR ", "May  1 10:00:00 host ",
    "<34>1 2024-05-01T10:00:00Z h a p m [", '{"level":"', "level=error msg=", "    at ", "\tat ", '  File "',
    '1.1.1.1 - - [10/Oct/2024:13:55:36 +0000] "', "goroutine 1 [", "thread '", "#0 ", "PHP Fatal error:  Uncaught ",
    "[object] (", "Exception in thread \"", "#Fields: ",
    "0. a @ 0x", "#0  0x1 in ", "** (A) ", "│ /a", "    exception error: ", "exited with reason: ", "At a:1 char:",
    "PHP message: ",
)  # fmt: skip


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.walk_packages(parsers.__path__, parsers.__name__ + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for place, pattern in enumerate(within(value)):
                yield f"{module.name.removeprefix(parsers.__name__)}{name}{place or ''}", pattern


def within(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from within(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from within(getattr(value, field.name))


FOUND = dict(patterns())


def test_the_patterns_are_found() -> None:
    assert len(FOUND) > 40


@pytest.mark.parametrize("name", sorted(FOUND))
def test_every_pattern_is_linear(name: str) -> None:
    pattern = FOUND[name]
    texts = [start + unit * (SIZE // len(unit)) for start in ("", *STARTS) for unit in UNITS[::3]]
    for text in texts:
        begin = time.process_time()
        pattern.match(text)
        assert time.process_time() - begin < 0.2, (name, text[:60])


@pytest.mark.parametrize("parser", BUILT_IN, ids=lambda parser: parser.log_type)
def test_every_header_is_linear(parser: parsers.Parser) -> None:
    fresh = parser.fresh()
    for start in STARTS:
        for unit in UNITS:
            begin = time.process_time()
            fresh.header(start + unit * (SIZE // len(unit)))
            assert time.process_time() - begin < 0.2, (start, unit)


@pytest.mark.parametrize("start", STARTS)
def test_whole_entries_are_linear(start: str) -> None:
    for unit in UNITS:
        text = start + unit * (SIZE // len(unit)) + "\n"
        rest = "    at a.b.C.d(E.java:1)\n#0 /a.php(1): x()\nStack trace:\n"
        data = f"{text}    {text}{rest}x{text}{rest}".encode()
        begin = time.process_time()
        reader = Reader(data, modified_at=NOW, now=NOW)
        reader.feed(data)
        reader.close()
        assert time.process_time() - begin < 1.5, (start, unit)


def test_many_lines_are_linear() -> None:
    def seconds(count: int) -> float:
        data = ("2024-05-01 10:00:00 ERROR dump\n" + "row of text (a: b)\n" * count).encode()
        begin = time.process_time()
        reader = Reader(data, modified_at=NOW, now=NOW)
        reader.feed(data)
        reader.close()
        return time.process_time() - begin

    seconds(1000)
    assert seconds(40_000) < 12 * max(seconds(10_000), 0.02)
