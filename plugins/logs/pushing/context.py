"""The context of a pushed event: joined, made safe, and without what must not be stored."""

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from snaglist.kernel import key
from snaglist.plugins.issues import clean

MAX_DEPTH = 16
MAX_KEYS = 1_000
MAX_NAME = 200
MAX_CONTEXT = 1_000_000
MAX_BREADCRUMBS = 50
REDACTED = "[redacted]"
TOO_DEEP = f"[cut: nested deeper than {MAX_DEPTH} levels]"
TOO_WIDE = f"[cut: more than {MAX_KEYS} keys]"
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode  # of a copy
TOO_LONG = f"[cut: longer than {MAX_CONTEXT} characters]"
_STRICT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False).encode
_ZERO = "\\u0000"  # as the encoder writes U+0000
_MAX_USUAL = 8_192


def redacted_names(names: Iterable[str]) -> frozenset[str]:
    """Return configured names in the form in which keys are compared."""
    return frozenset(_folded(name) for name in names)


class Pruner:
    """Copies one event's JSON values within the limits. `cut` tells that something was left out."""

    def __init__(self, redacted: frozenset[str]) -> None:
        self._redacted = redacted
        self._usual = _usual_names(redacted)
        self._keys = 0
        self.cut = False

    def text(self, values: Mapping[str, Any]) -> str:
        """Return an object as compact JSON, "" when it is empty."""
        if not values:
            return ""
        text = self._unchanged(values) or _ENCODE(self._copy(values, 1))
        if len(text) > MAX_CONTEXT:
            self.cut = True
            return json.dumps({"context": TOO_LONG})
        return text

    def _unchanged(self, values: Mapping[str, Any]) -> str | None:
        """Return the JSON of an object that needs no copy: its names are usual, its texts ASCII, its size small.

        PERF: nearly every event is like that, and the copy cost more than all other checks of it.
        """
        usual = self._usual
        keys = 0
        level: list[Any] = [values]
        for _ in range(MAX_DEPTH):
            deeper: list[Any] = []
            for value in level:
                kind = type(value)
                if kind is dict:
                    keys += len(value)
                    if not value.keys() <= usual:
                        return None
                    deeper += value.values()
                elif kind is list:
                    deeper += value
            if not deeper:
                break
            level = deeper
        else:
            return None
        if keys > MAX_KEYS:
            return None
        try:
            text = _STRICT(values)
        except ValueError:  # infinity
            return None
        return text if text.isascii() and _ZERO not in text and len(text) <= MAX_CONTEXT else None

    def _copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            # PERF: most texts are like that, and an event has hundreds.
            return value if value.isascii() and "\0" not in value else clean(value)
        if kind is dict or kind is list:
            if depth > MAX_DEPTH:
                self.cut = True
                return TOO_DEEP
            return self._object(value, depth + 1) if kind is dict else [self._copy(inner, depth + 1) for inner in value]
        if kind is float and not math.isfinite(value):  # 1e999 is JSON, infinity is not
            return str(value)
        return value

    def _object(self, value: Mapping[str, Any], inside: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for name, inner in value.items():
            if self._keys >= MAX_KEYS:
                self.cut = True
                copied["…"] = TOO_WIDE
                break
            self._keys += 1
            shown, folded = _name(name) if len(name) <= MAX_NAME else self._long_name(name)
            if folded in self._redacted:
                copied[shown] = REDACTED
            else:
                copied[shown] = self._copy(inner, inside)
                if shown == name and name.isascii() and len(self._usual) < _MAX_USUAL:
                    self._usual.add(name)
        return copied

    def _long_name(self, name: str) -> tuple[str, str]:
        self.cut = True
        return _name(name[:MAX_NAME])


@lru_cache(maxsize=16)
def _usual_names(redacted: frozenset[str]) -> set[str]:
    """Return names that were seen in events and are stored as they are; grows up to a limit."""
    return set()


@lru_cache(maxsize=4096)
def _name(name: str) -> tuple[str, str]:
    """Return a name as it is stored, and as it is compared."""
    return clean(name), _folded(name)


def _folded(name: str) -> str:
    return key(name).replace("-", "_")
