"""The key and its throttle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.auth import Keys, Throttle, presented_key, usable_key
from snaglist.kernel.errors import TooMany, Unauthorized
from snaglist.kernel.settings import ConfigurationError

KEY = "test-key-0123456789abcdef"


class Clock:
    """Time that moves when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def outcome(keys: Keys, key: bytes | None, address: str = "192.0.2.1") -> int:
    try:
        keys.check(key, address)
    except Unauthorized as refusal:
        assert refusal.headers["WWW-Authenticate"] == "Bearer"
        return 401
    except TooMany as refusal:
        assert int(refusal.headers["Retry-After"]) >= 1
        return 429
    return 200


@pytest.mark.parametrize(
    ("token", "authorization", "key"),
    [
        (None, "Bearer K", b"K"), (None, "bearer K", b"K"), (None, "BEARER K", b"K"), ("", "Bearer K", b"K"),
        ("X", "Bearer K", b"X"), (None, "Bearer", None), (None, "Bearer ", None), (None, "Basic K", None),
        (None, "K", None), (None, None, None), ("", "", None), (None, "Bearer  K", b" K"),
        (None, "Bearer K, Bearer X", b"K, Bearer X"), ("\xfcber", None, b"\xfcber"),
    ],
)  # fmt: skip
def test_which_key_is_presented(token: str | None, authorization: str | None, key: bytes | None) -> None:
    assert presented_key(token, authorization) == key


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_headers_present_bytes_or_nothing(token: str, authorization: str) -> None:
    """A key that is not ASCII is wrong, never an exception."""
    presented = presented_key(token, authorization)
    assert outcome(Keys(KEY), presented) == 401


@pytest.mark.parametrize("configured", ["   ", "\t", "a b", "käse", "x" * 513, "a\nb", "\x7f"])
def test_keys_that_stop_the_start(configured: str) -> None:
    """Never open by mistake."""
    with pytest.raises(ConfigurationError):
        usable_key(configured, "auth.token")
    with pytest.raises(ConfigurationError):
        Keys(configured)
    with pytest.raises(ConfigurationError):
        Keys(KEY, configured)


@pytest.mark.parametrize("key", ["k", "x" * 512])
def test_how_long_a_key_may_be(key: str) -> None:
    assert usable_key(key, "auth.token") == key.encode()


def test_configured_key_is_trimmed() -> None:
    assert usable_key(f"  {KEY}\n", "auth.token") == KEY.encode()
    assert outcome(Keys(f" {KEY} "), KEY.encode()) == 200


def test_without_a_key_everything_passes() -> None:
    keys = Keys("")
    assert not keys.required
    assert outcome(keys, None) == outcome(keys, b"anything") == 200


def test_previous_key_is_accepted() -> None:
    keys = Keys(KEY, "the-old-key-of-yesterday")
    assert outcome(keys, b"the-old-key-of-yesterday") == outcome(keys, KEY.encode()) == 200


def test_an_old_key_alone_requires_nothing() -> None:
    assert not Keys("", "the-old-key-of-yesterday").required


def test_one_wrong_key_repeated_never_blocks() -> None:
    keys = Keys(KEY)
    assert {outcome(keys, b"wrong") for _ in range(45)} == {401}
    assert outcome(keys, KEY.encode()) == 200


def test_many_different_wrong_keys_block_the_address() -> None:
    """Who is blocked, and for how long."""
    clock = Clock()
    keys = Keys(KEY, clock=clock)
    assert outcome(keys, KEY.encode(), "192.0.2.9") == 200
    wrong = [f"wrong-{number}".encode() for number in range(21)]
    assert {outcome(keys, key) for key in wrong} == {401}
    assert outcome(keys, b"one more") == outcome(keys, wrong[0]) == outcome(keys, KEY.encode()) == 429
    assert outcome(keys, None) == 401
    assert outcome(keys, b"wrong", "192.0.2.2") == 401
    clock.now += 59
    assert outcome(keys, KEY.encode()) == 429
    clock.now += 2
    assert outcome(keys, KEY.encode()) == 200


def test_a_key_that_was_accepted_from_the_address_passes_a_block() -> None:
    clock = Clock()
    keys = Keys(KEY, clock=clock)
    assert outcome(keys, KEY.encode()) == 200
    for number in range(21):
        outcome(keys, f"wrong-{number}".encode())
    assert outcome(keys, b"one more") == 429
    assert outcome(keys, KEY.encode()) == 200


def test_when_a_blocked_address_may_come_again() -> None:
    """In whole seconds, after which it may."""
    clock = Clock()
    throttle = Throttle(clock)
    for number in range(21):
        throttle.wrong(f"wrong-{number}".encode(), "192.0.2.1")
    for seconds, wait in ((0, "61"), (0.5, "60"), (59, "1")):
        clock.now += seconds
        with pytest.raises(TooMany) as refused:
            throttle.check(b"key", "192.0.2.1")
        assert refused.value.headers["Retry-After"] == wait
    clock.now += 0.5
    throttle.check(b"key", "192.0.2.1")


@pytest.mark.parametrize(("others", "status"), [(9_999, 429), (10_000, 401)])
def test_the_addresses_that_are_kept_in_mind(others: int, status: int) -> None:
    """Ten thousand, those that came last: nobody fills the memory."""
    keys = Keys(KEY, clock=Clock())
    for number in range(20):
        assert outcome(keys, f"wrong-{number}".encode()) == 401
    for number in range(others):
        outcome(keys, b"wrong", str(number))
    outcome(keys, b"the twenty-first")
    assert outcome(keys, b"one more") == status


@pytest.mark.parametrize(("others", "status"), [(9_999, 200), (10_000, 429)])
def test_the_acceptances_that_are_kept_in_mind(others: int, status: int) -> None:
    keys = Keys(KEY, clock=Clock())
    for address in ["192.0.2.1", *map(str, range(others))]:
        outcome(keys, KEY.encode(), address)
    for number in range(21):
        outcome(keys, f"wrong-{number}".encode())
    assert outcome(keys, KEY.encode()) == status


def test_an_acceptance_holds_for_a_day() -> None:
    clock = Clock()
    keys = Keys(KEY, clock=clock)
    assert outcome(keys, KEY.encode()) == 200
    clock.now += 24 * 3600 + 1
    for number in range(21):
        outcome(keys, f"wrong-{number}".encode())
    assert outcome(keys, KEY.encode()) == 429


def test_wrong_keys_over_a_longer_time_do_not_block() -> None:
    clock = Clock()
    keys = Keys(KEY, clock=clock)
    for number in range(200):
        clock.now += 4
        assert outcome(keys, f"wrong-{number}".encode()) == 401
