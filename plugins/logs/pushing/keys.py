"""Senders' keys: each kept as a hash for checking, and sealed so that it can be shown."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from snaglist.kernel import Call, StoredSecret, Unauthorized, Unavailable, times
from snaglist.kernel.store import decoded, get_setting, get_settings, put_setting

_BYTES = 24


def sender_key(call: Call, header: str) -> str:
    """Return the key that a request presents in a header of its own, else as a Bearer token; "" without one."""
    found = str(call.environ.get(f"HTTP_{header.upper().replace('-', '_')}", "")).strip()
    scheme, _, value = str(call.environ.get("HTTP_AUTHORIZATION", "")).strip().partition(" ")
    return found or (value.strip() if scheme.lower() == "bearer" else "")


class SenderKeys:
    """The keys of one kind of sender, one for each application: the prefix and 48 hex digits.

    They are settings of the application, `<name>.key` beside `<name>.options` (see `options`).
    `presented(call, options)` returns the key that a request presents, "" when it presents none; the hash of a
    key is compared in constant time.
    """

    def __init__(self, name: str, prefix: str, presented: Callable[[Call, Mapping[str, Any]], str]) -> None:
        self._name, self._prefix, self._presented = name, prefix, presented
        self._settings = f"{name}."
        self._key, self._options = f"{name}.key", f"{name}.options"

    def authenticate(self, call: Call) -> None:
        """Raise Unauthorized unless the request presents the key of its application."""
        stored: Mapping[str, Any] = {}
        if call.selected is not None:
            stored = call.remembered(self._settings, lambda db: get_settings(db, self._settings))
        kept = stored.get(self._key) or {}
        presented = _digest(self._presented(call, stored.get(self._options) or {}))
        valid = [kept.get("hash", "")]
        if kept.get("previous_until") and call.now < kept["previous_until"]:
            valid.append(kept["previous_hash"])
        if not any([hmac.compare_digest(presented, one) for one in valid]):
            raise Unauthorized(f"The {self._name} key is missing or wrong.", headers={"WWW-Authenticate": "Bearer"})

    def make(self, call: Call, *, grace_minutes: int = 0) -> None:
        """Give the application a new key, in the open write transaction; the old one works for the minutes of grace.

        Raises Unavailable when there is no key to seal it with.
        """
        before = get_setting(call.db, self._key) or {}
        key = self._prefix + secrets.token_hex(_BYTES)
        sealed = call.service.secrets.seal(call.application.id, self._key, key)
        hint = f"{self._prefix}…{key[-4:]}"
        kept = {"hash": _digest(key), "hint": hint, "sealed": base64.b64encode(sealed).decode()}
        if before and grace_minutes:
            kept |= {"previous_hash": before["hash"], "previous_until": times.add(call.now, seconds=60 * grace_minutes)}
        put_setting(call.db, self._key, kept)
        call.forget()

    def make_first(self, call: Call) -> None:
        """Give the application a key when it has none, in the open write transaction."""
        if get_setting(call.db, self._key) is None:
            self.make(call)

    def show(self, call: Call) -> dict[str, Any]:
        """Return `key`, `key_hint` and `previous_key_until`: the key only for those who may change settings."""
        kept = get_setting(call.db, self._key) or {}
        until = kept.get("previous_until")
        return {
            "key": self._open(call, kept) if kept and call.may("settings.write") else None,
            "key_hint": kept.get("hint"),
            "previous_key_until": until if until and call.now < until else None,
        }

    def stored(self, call: Call) -> Iterator[StoredSecret]:
        """Give the sealed key, in the open transaction."""
        kept = get_setting(call.db, self._key)
        if kept is not None:

            def replace(sealed: bytes) -> None:
                put_setting(call.db, self._key, {**kept, "sealed": base64.b64encode(sealed).decode()})

            label = f"{self._name} key (it still lets senders in, but cannot be shown)"
            yield StoredSecret(self._key, label, decoded(kept["sealed"]), replace)

    def options(self, call: Call) -> Mapping[str, Any]:
        """Return what was set about presenting the key, in the open transaction."""
        return get_setting(call.db, self._options) or {}

    def set_options(self, call: Call, options: Mapping[str, Any]) -> None:
        """Set what `presented` gets, in the open write transaction."""
        put_setting(call.db, self._options, options)
        call.forget()

    def _open(self, call: Call, kept: Mapping[str, Any]) -> str:
        try:
            return call.service.secrets.open(call.application.id, self._key, base64.b64decode(kept["sealed"]))
        except ValueError as error:
            raise Unavailable(f"The stored {self._name} key is damaged; make a new one.") from error


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
