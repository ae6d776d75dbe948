"""Secrets at rest, sealed with the key at hand and bound to where they belong."""

import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.kernel import store
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.service import KEY_FILE, Service
from snaglist.testing import running_service

FIELD = "connectors.1.secrets"
Open = Callable[..., AbstractContextManager[Service]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory in which no key was made yet."""
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def opened(data: Path) -> Open:
    """Open the same installation with another configuration."""
    return lambda secret="": running_service(data, jobs=False, security__secret=secret)


def test_a_sealed_value_opens_where_it_belongs_and_nowhere_else(sqlite_service: Service) -> None:
    secrets = sqlite_service.secrets
    sealed = secrets.seal("default", FIELD, "s3cret-ü")
    assert secrets.open("default", FIELD, sealed) == "s3cret-ü"
    assert b"s3cret" not in sealed
    assert sealed != secrets.seal("default", FIELD, "s3cret-ü")  # the nonce is random
    for application, field in (("other", FIELD), ("default", "connectors.2.secrets"), ("default", "")):
        with pytest.raises(Unavailable, match="cannot be opened"):
            secrets.open(application, field, sealed)


@settings(max_examples=100)
@given(text=st.text(max_size=50), at=st.integers(0, 500), bit=st.integers(0, 7))
def test_a_value_that_was_touched_does_not_open(sqlite_service: Service, text: str, at: int, bit: int) -> None:
    # The salt is left alone here: each other salt would cost a slow derivation.
    sealed = bytearray(sqlite_service.secrets.seal("default", FIELD, text))
    places = [0, *range(17, len(sealed))]
    sealed[places[at % len(places)]] ^= 1 << bit
    with pytest.raises(Unavailable):
        sqlite_service.secrets.open("default", FIELD, bytes(sealed))


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"plain text", b"\x01" + b"x" * 40])
def test_what_was_never_sealed_does_not_open(sqlite_service: Service, sealed: bytes) -> None:
    with pytest.raises(Unavailable):
        sqlite_service.secrets.open("default", FIELD, sealed)


def test_the_key_file_is_made_on_first_need_and_is_the_owners(opened: Open, data: Path) -> None:
    with opened() as service:
        assert not (data / KEY_FILE).exists()
        sealed = service.secrets.seal("default", FIELD, "secret")
        assert stat.S_IMODE((data / KEY_FILE).stat().st_mode) == 0o600
    with opened() as service:
        assert service.secrets.open("default", FIELD, sealed) == "secret"
    assert [path.name for path in data.iterdir() if KEY_FILE in path.name] == [KEY_FILE]
    (data / KEY_FILE).unlink()
    with opened() as service, pytest.raises(Unavailable, match="cannot be opened"):
        service.secrets.open("default", FIELD, sealed)


def test_no_key_no_secret(opened: Open, data: Path) -> None:
    """There is no plain-text fallback: 503."""
    (data / KEY_FILE).mkdir()
    with opened() as service:
        for action in (service.secrets.prepare, lambda: service.secrets.seal("default", FIELD, "secret")):
            with pytest.raises(Unavailable, match="set SERVICE_SECRET"):
                action()


def test_the_first_secret_seals_and_all_open(opened: Open, data: Path) -> None:
    with opened("one") as service:
        old = service.secrets.seal("default", FIELD, "secret")
        assert service.secrets.reseal("default", FIELD, old) is None
    with opened("two, one") as service:
        assert service.secrets.open("default", FIELD, old) == "secret"
        new = service.secrets.reseal("default", FIELD, old)
        assert new is not None
    with opened("two") as service:
        assert service.secrets.open("default", FIELD, new) == "secret"
        with pytest.raises(Unavailable, match="cannot be opened"):
            service.secrets.open("default", FIELD, old)
    assert not (data / KEY_FILE).exists()


def test_what_the_key_file_sealed_opens_after_a_secret_was_set(opened: Open) -> None:
    with opened() as service:
        old = service.secrets.seal("default", FIELD, "secret")
    with opened("one") as service:
        assert service.secrets.open("default", FIELD, old) == "secret"
        assert service.secrets.reseal("default", FIELD, old) is not None


def test_a_value_opens_in_another_installation_with_the_same_secret(opened: Open, tmp_path: Path) -> None:
    """It carries its salt, so a dump can be loaded elsewhere."""
    with opened("one") as service:
        sealed = service.secrets.seal("default", FIELD, "secret")
    with running_service(tmp_path / "other", jobs=False, security__secret="one") as other:
        assert other.secrets.seal("default", FIELD, "secret")[1:17] != sealed[1:17]
        assert other.secrets.open("default", FIELD, sealed) == "secret"


@pytest.mark.servers
def test_every_process_of_an_installation_uses_the_same_salt(service: Service) -> None:
    first = service.secrets.seal("default", FIELD, "secret")
    with service.database.transaction(service.applications.registry, write=False) as db:
        rows = dict(db.execute(select(store.instance.c.key, store.instance.c.value)).all())
    assert bytes.fromhex(rows["key_derivation_salt"]) == first[1:17]
