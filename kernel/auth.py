"""The key: who may speak to the API at all, and the throttle against guessing it."""

import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from snaglist.kernel.errors import TooMany, Unauthorized
from snaglist.kernel.settings import ConfigurationError

MAX_KEY = 512
WINDOW_SECONDS = 60
MAX_WRONG = 20
ACCEPTED_SECONDS = 24 * 3600
MAX_ADDRESSES = 10_000


def usable_key(configured: str, name: str) -> bytes | None:
    """Return a configured key as bytes, None when it is empty; ConfigurationError when it is not usable."""
    if not configured:
        return None
    trimmed = configured.strip()
    if not 1 <= len(trimmed) <= MAX_KEY or not all("!" <= c <= "~" for c in trimmed):
        raise ConfigurationError(f"{name}: must be 1-{MAX_KEY} visible ASCII characters, or not set at all")
    return trimmed.encode()


def presented_key(token_header: str | None, authorization: str | None) -> bytes | None:
    """Return the key a request presents: `X-Service-Token` alone when not empty, else the Bearer value."""
    scheme, _, value = (authorization or "").partition(" ")
    key = token_header or (value if scheme.lower() == "bearer" else "")
    # WSGI hands header bytes over as latin-1 text.
    return key.encode("latin-1", "replace") if key else None


class Keys:
    """Compares presented keys with the configured ones."""

    def __init__(self, token: str, previous: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        keys = usable_key(token, "auth.token"), usable_key(previous, "auth.previous_token")
        self._keys = [key for key in keys if key]
        self._throttle = Throttle(clock)
        self.required = bool(keys[0])

    def check(self, presented: bytes | None, address: str) -> None:
        """Pass, or raise Unauthorized (missing or wrong, the same answer) or TooMany."""
        if not self.required:
            return
        if presented is None:
            raise _refusal()
        self._throttle.check(presented, address)
        # Every key is compared, so that the time does not tell which one was close.
        if any([hmac.compare_digest(presented, key) for key in self._keys]):
            self._throttle.accept(presented, address)
            return
        self._throttle.wrong(presented, address)
        raise _refusal()


def _refusal() -> Unauthorized:
    return Unauthorized("A valid key is required.", headers={"WWW-Authenticate": "Bearer"})


class Throttle:
    """Blocks an address for a minute after more than 20 different wrong keys in a minute; per process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()
        self._blocked: dict[str, float] = {}
        self._accepted: OrderedDict[tuple[str, bytes], float] = OrderedDict()

    def check(self, key: bytes, address: str) -> None:
        """Raise TooMany while the address is blocked, unless that very key was accepted from it lately."""
        until = self._blocked.get(address)
        if until is None:
            return
        with self._lock:
            now = self._clock()
            if now >= until:
                self._blocked.pop(address, None)
                return
            accepted = self._accepted.get((address, sha256(key).digest()))
        if accepted is None or now - accepted > ACCEPTED_SECONDS:
            raise TooMany("Too many wrong keys from this address.", retry_after=int(until - now) + 1)

    def accept(self, key: bytes, address: str) -> None:
        """Remember that a key was right."""
        with self._lock:
            known = (address, sha256(key).digest())
            self._accepted[known] = self._clock()
            self._accepted.move_to_end(known)
            if len(self._accepted) > MAX_ADDRESSES:
                self._accepted.popitem(last=False)

    def wrong(self, key: bytes, address: str) -> None:
        """Count a wrong key; repeating one key counts once."""
        with self._lock:
            now = self._clock()
            seen = self._wrong.setdefault(address, {})
            self._wrong.move_to_end(address)
            seen[sha256(key).digest()] = now
            for old in [known for known, at in seen.items() if now - at > WINDOW_SECONDS]:
                del seen[old]
            if len(seen) > MAX_WRONG:
                self._blocked[address] = now + WINDOW_SECONDS
                del self._wrong[address]
            if len(self._wrong) > MAX_ADDRESSES:
                self._wrong.popitem(last=False)
            if len(self._blocked) > MAX_ADDRESSES:
                self._blocked = {known: until for known, until in self._blocked.items() if until > now}
