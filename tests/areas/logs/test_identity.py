"""How files are known again."""

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.logs.identify import fingerprint
from snaglist.plugins.logs.identify.fingerprint import BLOCK_BYTES, ChainedHash, name_family


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
