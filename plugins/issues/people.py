"""Who an event happened to, as far as `privacy.user_keys` and `privacy.redact_keys` let it be known."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from snaglist.kernel import Call

_JOINS = re.compile(r"[_. -]+")


def user_reader(call: Call) -> Callable[[Mapping[str, Any]], str | None]:
    """Return what tells who an event happened to, None for nobody: the first field that `privacy.user_keys` names.

    It takes fields like `{"user": {"id": 7}}` or `{"user.id": "7"}`, and never one that `privacy.redact_keys` names.
    """
    user_keys, redact_keys = call.setting("privacy.user_keys"), call.setting("privacy.redact_keys")
    return partial(_user_in, _readable(tuple(user_keys), tuple(redact_keys)))


def _user_in(keys: list[str], values: Mapping[str, Any]) -> str | None:
    for name in keys:
        found = values.get(name)
        if found is None:
            outer, _, inner = name.partition(".")
            given = values.get(outer) if inner else None
            found = given.get(inner) if isinstance(given, Mapping) else None
        if isinstance(found, str | int | float) and not isinstance(found, bool) and (text := str(found).strip()):
            return text
    return None


@lru_cache(maxsize=16)
def _readable(user_keys: tuple[str, ...], redact_keys: tuple[str, ...]) -> list[str]:
    """Return the keys whose values may be stored."""
    hidden = {_plain(name) for name in redact_keys}
    return [name for name in user_keys if hidden.isdisjoint(map(_plain, (name, *name.split("."))))]


def _plain(name: str) -> str:
    return _JOINS.sub("", name).casefold()
