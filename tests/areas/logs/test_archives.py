"""Damaged, cut and unusual archives (operating.md, Archives): what unpacks is stored once, and the rest is said."""

import bz2
import gzip
import lzma
import os
import random
import shutil
import subprocess
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.read import decompress
from snaglist.plugins.logs.read.decompress import LineEnds
from snaglist.plugins.logs.read.files import open_file
from snaglist.testing import Client

Pack = Callable[[bytes], bytes]


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


PACKERS: dict[str, Pack] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
TOOLS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}
EVERY = pytest.mark.parametrize("kind", PACKERS)


def plainly(kind: str, data: bytes) -> bytes:
    """What a library makes of the beginning of an archive, in one go."""
    match kind:
        case "gz":
            return zlib.decompressobj(31).decompress(data)
        case "bz2":
            return bz2.BZ2Decompressor().decompress(data)
        case "xz":
            return lzma.LZMADecompressor().decompress(data)
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


def lines(count: int, first: int = 0) -> bytes:
    return b"".join(b"2026-01-03 10:00:%02d ERROR part %d broke\n" % (n % 60, n) for n in range(first, first + count))


def put(path: Path, data: bytes, *, age: float = 3600) -> Path:
    """Write a file that has not changed for some seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def unpack(path: Path) -> tuple[bytes, Any]:
    """Return what is read of a file, and its damage."""
    with open_file(path) as file:
        damage = file.find_damage()
        with file.content() as stream:
            return stream.read(), damage


@EVERY
def test_a_file_cut_at_every_byte(kind: str, sqlite_store: Any, tmp_path: Path) -> None:
    """As many events as whole lines unpack; the warning names the byte."""
    content = lines(9)
    packed = PACKERS[kind](content)
    for cut in range(len(packed)):
        path = put(tmp_path / str(cut) / f"app.log.{kind}", packed[:cut])
        before = sqlite_store.count(tables.occurrences)
        result = sqlite_store.read(path)
        stored = sqlite_store.count(tables.occurrences) - before
        if not decompress.compression_of(packed[:cut]):  # too short to tell what it is
            continue
        whole = plainly(kind, packed[:cut]).count(b"\n")
        assert (stored, result.events, result.state) == (whole, whole, "partial" if whole else "failed"), cut
        wanted = f"stopped at byte {cut} of app.log.{kind}: the data ends too early; "
        assert result.error.startswith(wanted), result.error
        assert sqlite_store.source(path).last_error == result.error
    sqlite_store.check_counters()


@EVERY
@pytest.mark.parametrize("size", [1, 700, 5_000])
def test_every_cut_unpacks_to_the_last_whole_line(kind: str, size: int, tmp_path: Path) -> None:
    chance = random.Random(size)
    content = b"".join(b"%x line\r\n" % chance.getrandbits(4 * (n % 40 + 1)) for n in range(size // 20 + 1))
    packed = PACKERS[kind](content)
    last = len(packed) - 20
    for cut in sorted(
        {*range(12, min(len(packed), 200)), *range(12, len(packed), 37), *range(max(last, 12), last + 20)}
    ):
        path = put(tmp_path / "a", packed[:cut])
        found, damage = unpack(path)
        whole = plainly(kind, packed[:cut])
        assert found == whole[: whole.rfind(b"\n") + 1]
        assert (damage.byte, damage.lines) == (cut, found.count(b"\n"))


@EVERY
def test_files_of_the_tools(kind: str, sqlite_store: Any, tmp_path: Path) -> None:
    """Two runs, one after another into one file, as `xz -c a b > c` makes it."""
    tool = shutil.which(TOOLS[kind])
    if tool is None:
        pytest.skip(f"{TOOLS[kind]} is not installed")
    one, other = put(tmp_path / "one", lines(40)), put(tmp_path / "other", lines(30, 40))
    packed = b"".join(
        subprocess.run([tool, "-c", path], check=True, capture_output=True).stdout for path in (one, other)
    )
    result = sqlite_store.read(put(tmp_path / f"whole.log.{kind}", packed))
    assert (result.events, result.state, result.error) == (70, "read", None)
    result = sqlite_store.read(put(tmp_path / "cut" / f"cut.log.{kind}", packed[:-9]))
    assert result.state == "partial" and 40 <= result.events <= 70


@EVERY
def test_padding_is_no_damage(kind: str, sqlite_store: Any, tmp_path: Path) -> None:
    """Zero bytes behind and between streams: tapes and xz(1) make them."""
    pack = PACKERS[kind]
    padded = pack(lines(3)) + bytes(4) + pack(b"") + bytes(20_000) + pack(lines(4, 3)) + bytes(512)
    result = sqlite_store.read(put(tmp_path / f"app.log.{kind}", padded))
    assert (result.events, result.state, result.error) == (7, "read", None)


@EVERY
def test_other_bytes_behind_the_data(kind: str, sqlite_store: Any, tmp_path: Path) -> None:
    """The last line is complete, with or without a line feed: its stream is whole."""
    packed = PACKERS[kind](lines(3) + lines(1, 3).rstrip())
    result = sqlite_store.read(put(tmp_path / f"app.log.{kind}", packed + bytes(8) + b"garbage " * 9_000))
    assert (result.events, result.state) == (4, "partial")
    what = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}[kind]
    wanted = f"stopped at byte {len(packed) + 8} of app.log.{kind}: what follows is no {what} data"
    assert result.error == f"{wanted}; 4 lines before it are stored"


def test_wrong_sums_at_the_end_of_gzip(sqlite_store: Any, tmp_path: Path) -> None:
    """All that unpacked is stored."""
    content = b"".join(
        b"2026-01-03 10:00:00 ERROR part %s broke\n" % os.urandom(40).hex().encode() for _ in range(2_000)
    )
    packed = bytearray(gzip.compress(content))
    for name, place in (("sum", -6), ("length", -2)):
        broken = bytearray(packed)
        broken[place] ^= 0x55
        result = sqlite_store.read(put(tmp_path / name / "app.log.gz", bytes(broken)))
        assert (result.events, result.state) == (2_000, "partial")
        place_of_it = len(packed) - 5 if name == "sum" else len(packed) - 1
        assert result.error.startswith(f"stopped at byte {place_of_it} of app.log.gz: the data is damaged; 2000 lines")


@EVERY
def test_a_damaged_middle(kind: str, sqlite_store: Any, tmp_path: Path) -> None:
    """The streams before it are read."""
    pack = PACKERS[kind]
    first, second = pack(lines(500)), bytearray(pack(lines(500, 500)))
    for place in range(len(second) // 2, len(second) // 2 + 30):
        second[place] ^= 0xFF
    result = sqlite_store.read(put(tmp_path / f"app.log.{kind}", first + bytes(second) + pack(lines(9))))
    assert result.state == "partial" and 500 <= result.events <= 1000
    byte = int(result.error.split()[3])
    assert len(first) < byte <= len(first) + len(second)


@settings(max_examples=150)
@given(
    st.sampled_from(sorted(PACKERS)), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=4)
)
@example("gz", [(0.0, 255)])
def test_flipped_bytes_never_raise(tmp_path_factory: Any, kind: str, flips: list[tuple[float, int]]) -> None:
    check_flips(tmp_path_factory, kind, flips)


@pytest.mark.long
@settings(max_examples=5_000)
@given(
    st.sampled_from(sorted(PACKERS)), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=4)
)
def test_very_many_flipped_bytes_never_raise(tmp_path_factory: Any, kind: str, flips: list[tuple[float, int]]) -> None:
    check_flips(tmp_path_factory, kind, flips)


def check_flips(tmp_path_factory: Any, kind: str, flips: list[tuple[float, int]]) -> None:
    pack = PACKERS[kind]
    data = bytearray(pack(lines(300)) + pack(lines(20)))
    for place, change in flips:
        data[int(place * (len(data) - 1))] ^= change
    path = put(tmp_path_factory.getbasetemp() / f"flipped.log.{kind}", bytes(data))
    found, damage = unpack(path)
    again, same = unpack(path)
    assert (found, damage) == (again, same)
    if damage is not None:
        assert 0 <= damage.byte <= len(data)
        whole = found.count(b"\n") or found.count(b"\r")
        assert damage.lines in (whole, whole + 1)
        assert not found or found.endswith((b"\n", b"\r")) or damage.reason.startswith("what follows")


@EVERY
def test_nothing_is_counted_twice_when_the_whole_file_comes(kind: str, store: Any, tmp_path: Path) -> None:
    """Cut in the middle of an entry of several lines; the path then gets more of it, and then all."""
    trace = b"".join(b"    at com.example.Part%d.run(Part.java:%d)\n" % (n, n) for n in range(400))
    content = lines(30) + lines(1, 30) + trace + lines(30, 31)
    chance = random.Random(7)
    noise = b"".join(b"2026-01-03 10:01:00 ERROR x%x broke\n" % chance.getrandbits(200) for _ in range(3_000))
    packed = PACKERS[kind](content + noise)
    path = tmp_path / f"app.log.{kind}"
    total = 61 + 3_000
    before = -1
    for part in (0.3, 0.6, 0.9, 1.0):
        result = store.read(put(path, packed[: int(len(packed) * part)], age=5_000 - 1_000 * part))
        now = store.count(tables.occurrences)
        assert now >= before and result.state in (("read",) if part == 1 else ("partial", "failed"))
        before = now
    assert (before, result.error, store.source(path).status) == (total, None, "ok")
    assert len(store.rows(log_tables.sources)) == 1
    assert not any(row.provisional for row in store.rows(tables.occurrences))
    store.check_counters()


def test_it_says_the_same_again_and_reads_nothing_twice(store: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "app.log.gz", gzip.compress(lines(30))[:-9])
    first, second = store.read(path), store.read(path)
    assert first.events == store.count(tables.occurrences) > 0
    assert (second.events, second.state, second.error) == (0, "partial", first.error)
    store.check_counters()


def test_what_may_still_be_written_waits(sqlite_store: Any, tmp_path: Path) -> None:
    """Today's way for an archive in the making: it is read when it is whole, or when nothing more comes."""
    packed = gzip.compress(lines(30))
    path = put(tmp_path / "app.log.gz", packed[:-9], age=0)
    result = sqlite_store.read(path, final=True)
    assert (result.state, result.events, sqlite_store.count(tables.occurrences)) == ("failed", 0, 0)
    assert result.error.endswith("; it may still be written, so it is read when it has not changed for 10 s")
    put(path, packed, age=0)
    assert sqlite_store.read(path, final=True).events == 30


def test_a_dropped_archive_that_is_cut(client: Client, drop: Any) -> None:
    """It is read as far as it goes, stays where it is, and is archived when it is whole."""
    packed = gzip.compress(lines(400))
    path = put(drop(client.service, "app.log.gz", b""), packed[: len(packed) // 2], age=0)
    first = client.post("import-incoming", wait="1").json
    assert (first["events"], first["processed"], first["waiting"], first["errors"]) == (0, 0, 1, [])
    put(path, packed[: len(packed) // 2])
    body = client.post("import-incoming", wait="1").json
    assert 0 < body["events"] < 400 and (body["files"], body["processed"]) == (1, 0)
    (error,) = body["errors"]
    assert error["file"] == "app.log.gz" and error["error"].startswith("stopped at byte ")
    (source,) = client.get("sources").json["data"]
    assert (source["status"], source["last_error"]) == ("error", error["error"])
    put(path, packed, age=1_000)
    rest = client.post("import-incoming", wait="1").json
    assert (body["events"] + rest["events"], rest["processed"], rest["errors"]) == (400, 1, [])
    assert not path.exists()


def test_frames_without_content_come_first(sqlite_store: Any, tmp_path: Path) -> None:
    """What parallel compressors of zstandard make."""
    skipped = b"\x50\x2a\x4d\x18" + (70_000).to_bytes(4, "little") + bytes(range(250)) * 280
    packed = skipped + zstd(lines(3)) + b"\x5f\x2a\x4d\x18\0\0\0\0" + zstd(lines(4, 3))
    result = sqlite_store.read(put(tmp_path / "app.log.zst", packed))
    assert (result.events, result.error) == (7, None)
    result = sqlite_store.read(put(tmp_path / "b" / "app.log.zst", packed + skipped[:5_000]))
    assert (result.events, result.state) == (7, "partial")


@EVERY
def test_memory_is_constant(kind: str, tmp_path: Path) -> None:
    """Whatever the data unpacks to, damaged at its end or not."""
    packed = PACKERS[kind](bytes(48 * 1024 * 1024))
    path = put(tmp_path / "bomb", packed + b"garbage")
    tracemalloc.start()
    try:
        with open_file(path) as file:
            damage = file.find_damage()
            with file.content() as stream:
                size = sum(len(data) for data in iter(lambda: stream.read(65_536), b""))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert damage is not None and size == 48 * 1024 * 1024
    assert peak < 40 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_line_ends_of_every_encoding(encoding: str) -> None:
    text = "\ufeffone\r\ntwo \u0a0a\u000a\u010a\u0100\nthree \u0a00\u0a0a"
    data = text.encode(encoding)
    for size in (1, 2, 3, 7, 1000):
        ends = LineEnds()
        pieces = [data[:4], *(data[start : start + size] for start in range(4, len(data), size))]
        for piece in pieces:
            ends.feed(piece)
        assert data[: ends.end].decode(encoding) == text[: text.rfind("\n") + 1]
        assert ends.size == len(data)


def test_seeking_in_what_is_damaged(tmp_path: Path) -> None:
    content = lines(5_000)
    packed = bytearray(gzip.compress(content, 1))
    packed[-7] ^= 1
    with open_file(put(tmp_path / "a", bytes(packed))) as file:
        for start in (0, 17, 70_000, len(content) - 3, 5):
            with file.content(start) as stream:
                assert stream.read(40) == content[start : start + 40]
        with file.content(len(content) + 10) as stream:
            assert stream.read() == b""


def test_a_damaged_archive_that_comes_once_more_counts_only_what_it_had_wrong_again(store: Any, tmp_path: Path) -> None:
    """A bit that turned on the way is found at the end alone: the lines before it are those of the whole archive."""
    text = lines(90)
    whole = gzip.compress(text, compresslevel=0)  # the lines stand in it as they are
    place = whole.index(b"part 80 ")
    path = put(tmp_path / "app.log.gz", whole[:place] + b"cart" + whole[place + 4 :])
    assert "damaged" in store.read(path).error
    assert store.count(tables.occurrences) == 90
    put(path, whole)
    assert store.read(path).events == 10
    assert store.read(path).state == "unchanged"


def test_another_archive_in_the_place_of_a_damaged_one_is_all_new(sqlite_store: Any, tmp_path: Path) -> None:
    whole = gzip.compress(lines(90), compresslevel=0)
    path = put(tmp_path / "app.log.gz", whole[:-8] + bytes(8))
    assert "damaged" in sqlite_store.read(path).error
    put(path, gzip.compress(lines(90, first=7)))
    assert sqlite_store.read(path).events == 90
