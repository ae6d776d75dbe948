"""How files are known again."""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.logs.identify import fingerprint, start
from snaglist.plugins.logs.identify.compare import contains, holds, identity_of
from snaglist.plugins.logs.identify.fingerprint import (
    BLOCK_BYTES,
    PREFIX_BYTES,
    ChainedHash,
    Trail,
    begins_with,
    is_rotated_name,
    name_family,
    prefix_hash,
)
from snaglist.plugins.logs.identify.search import is_telling, longest
from snaglist.plugins.logs.read.files import OpenFile, open_file


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("app.log", "app.log"),
        ("App.LOG", "app.log"),
        ("app.log.1", "app.log"),
        ("app.log.2.gz", "app.log"),
        ("app.log-20260102", "app.log"),
        ("app.log.2026-01-02.xz", "app.log"),
        ("syslog.1", "syslog"),
        ("access_log_3", "access_log"),
        ("app-2.log", "app-2.log"),
        (".1", ".1"),
    ],
)
def test_name_family(name: str, family: str) -> None:
    assert name_family(name) == family


def test_the_chain_is_the_one_of_the_contract() -> None:
    data = bytes(range(256)) * (BLOCK_BYTES // 256) * 2 + b"rest"
    first = hashlib.sha256(data[:BLOCK_BYTES]).digest()
    second = hashlib.sha256(first + data[BLOCK_BYTES : 2 * BLOCK_BYTES]).digest()
    hashed = ChainedHash()
    hashed.feed(data)
    assert hashed.block_hash == second.hex()
    assert hashed.content_hash == hashlib.sha256(second + b"rest").hexdigest()
    assert hashed.position == len(data)


@given(st.binary(max_size=300), st.lists(st.integers(1, 70), max_size=20), st.integers(0, 300))
def test_going_on_equals_hashing_at_once(data: bytes, cuts: list[int], resume_at: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "BLOCK_BYTES", 32)
        whole = ChainedHash()
        whole.feed(data)
        pieces = ChainedHash()
        rest = data
        for cut in cuts:
            pieces.feed(rest[:cut])
            rest = rest[cut:]
        pieces.feed(rest)
        assert (pieces.block_hash, pieces.content_hash) == (whole.block_hash, whole.content_hash)

        stop = min(resume_at, len(data))
        before = ChainedHash()
        before.feed(data[:stop])
        resumed = ChainedHash(before.block_hash, before.position)
        stream = io.BytesIO(data)
        stream.seek(resumed.position)
        assert resumed.read_to(stream, stop)
        assert resumed.content_hash == before.content_hash
        assert resumed.read_to(stream, len(data))
        assert resumed.content_hash == whole.content_hash
        assert not resumed.read_to(stream, len(data) + 1)


def test_a_family_is_at_most_255_characters() -> None:
    assert name_family("a" * 256) == "a" * 255


@pytest.mark.parametrize(
    ("name", "rotated"),
    [("app.log", False), ("App.LOG", False), ("app.log.1", True), ("app.log.gz", True), ("app-2.log", False)],
)
def test_a_rotated_name(name: str, rotated: bool) -> None:
    assert is_rotated_name(name) is rotated


class Source(SimpleNamespace):
    """What is kept of a source of which these bytes were read."""

    def __init__(self, data: bytes, **more: Any) -> None:
        hashed = ChainedHash()
        hashed.feed(data)
        head = data[:PREFIX_BYTES]
        super().__init__(
            offset=len(data),
            prefix_hash=hashlib.sha256(head).hexdigest(),
            prefix_length=len(head),
            block_hash=hashed.block_hash,
            content_hash=hashed.content_hash,
            **more,
        )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., OpenFile]]:
    """Write a file and open it: `opened(b"…", name="app.log")`."""
    with ExitStack() as stack:

        def write(data: bytes, name: str = "app.log") -> OpenFile:
            path = tmp_path / name
            path.write_bytes(data)
            return stack.enter_context(open_file(path))

        yield write


READ = b"0123456789"


@pytest.mark.parametrize(
    ("data", "goes_on"),
    [
        (READ, True),
        (READ + b"x", True),
        (READ[:-1], False),
        (b"", False),
        (READ[:-1] + b"x", False),
        (b"x" * 10, False),
    ],
)
def test_a_file_goes_on_when_it_holds_all_that_was_read(
    opened: Callable[..., OpenFile], data: bytes, goes_on: bool
) -> None:
    file = opened(data)
    trail = Trail.resume(file, data, Source(READ))
    assert (trail is not None) is goes_on
    assert holds(file.state.path, Source(READ)) is goes_on
    if trail:
        assert trail.position == 10 and trail.advance(len(data)) and not trail.advance(len(data) + 1)
        trail.close()


def test_of_a_source_that_holds_nothing_any_file_is_the_rest(opened: Callable[..., OpenFile]) -> None:
    trail = Trail.resume(opened(READ), READ, Source(b""))
    assert trail is not None and trail.position == 0
    trail.close()


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert not holds(tmp_path / "gone.log", Source(READ))
    assert identity_of(tmp_path / "gone.log") == ""
    status = tmp_path.stat()
    assert identity_of(tmp_path) == f"{status.st_dev}:{status.st_ino}"


@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097])
def test_what_is_remembered_of_a_file(opened: Callable[..., OpenFile], size: int) -> None:
    """Its first 4,096 bytes, or what there is of them, as they are when they are read."""
    data = b"x" * size
    trail = Trail.start(opened(data + b"more"), data + b"more")
    assert trail.advance(size)
    kept = trail.columns()
    head = data[:4_096]
    assert (kept["offset"], kept["prefix_length"]) == (size, len(head))
    assert kept["prefix_hash"] == prefix_hash(data) == hashlib.sha256(head).hexdigest()
    trail.close()


@pytest.mark.parametrize(
    ("head", "source", "begins"),
    [
        (READ, READ, True), (READ + b"x", READ, True), (READ[:-1], READ, False), (READ[:-1] + b"x", READ, False),
        (b"", b"", True), (READ, b"", True),
    ],
)  # fmt: skip
def test_how_a_file_begins(head: bytes, source: bytes, begins: bool) -> None:
    assert begins_with(head, Source(source)) is begins


@pytest.mark.parametrize(
    ("data", "other", "begin", "same"),
    [
        (READ, READ, 0, True), (READ + b"more", READ, 0, True), (READ[:-1], READ, 0, False),
        (b"x" + READ[1:], READ, 0, False), (b"x" + READ[1:], READ, 1, True), (READ, READ, 10, True),
    ],
)  # fmt: skip
def test_a_file_that_holds_another(
    opened: Callable[..., OpenFile], data: bytes, other: bytes, begin: int, same: bool
) -> None:
    opened(data, "first.log")
    file = opened(other, "second.log")
    assert contains(file.state.path.with_name("first.log"), file, begin) is same
    assert not contains(file.state.path.with_name("gone.log"), file, begin)


@pytest.mark.parametrize(
    ("head", "offset", "open_event", "telling"),
    [
        (b"2026 half a line", 9, None, False), (b"one\ntwo", 4, None, True), (b"one\ntwo", 3, None, False),
        (b"2026 half a line", 9, {"start": 0}, True), (b"half", 5, None, True), (b"half", 4, None, False),
    ],
)  # fmt: skip
def test_half_a_line_does_not_tell_which_file_it_is(head: bytes, offset: int, open_event: Any, telling: bool) -> None:
    row: Any = SimpleNamespace(offset=offset, open_event=open_event)
    assert is_telling(head, row) is telling


def test_the_longest_of_the_contents_that_a_file_begins_with(opened: Callable[..., OpenFile]) -> None:
    file = opened(READ)
    rows: Any = [Source(READ + b"x"), Source(b"x" * 9), Source(READ[:6]), Source(READ[:3]), Source(b"x")]
    assert longest(file, rows) is rows[2]
    assert longest(file, [Source(READ), *rows[1:]]).offset == 10  # type: ignore[union-attr]
    assert longest(file, rows[4:]) is None
    assert longest(file, []) is None


@pytest.mark.parametrize(
    ("name", "size", "end"),
    [("app.log", 5, None), ("app.log.1", 5, 5), ("app.log.1", 4_095, 4_095), ("app.log.1", 4_096, None)],
)
def test_where_a_copy_ended_that_may_be_in_the_making(
    opened: Callable[..., OpenFile], name: str, size: int, end: int | None
) -> None:
    data = b"x" * size
    assert start._possible_end(opened(data, name), data) == end
