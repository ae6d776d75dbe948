"""The values of an event's context: what stands in its JSON, without the names."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from snaglist.plugins.issues.storing.texts import clean_json

MAX_CONTEXT = 12_000  # characters of a context that are looked at: what an occurrence keeps of it
UNINDEXED = ("true", "false")  # values that find nothing, because they say nothing without their names
_NAME = re.compile(r'"(?:[^"\\]|\\.){0,200}"\s*:|(?<![\w.-])[\w.-]{1,80}=')


def context_values(context: str) -> list[str]:
    """Return the values of a context as texts; of one that is no JSON, the text without what looks like names."""
    if not context:
        return []
    given = _read(context)
    return [_NAME.sub(" ", context[:MAX_CONTEXT])] if given is None else list(_scalars(given))


def named_values(context: str) -> dict[str, str]:
    """Return the values of a context that is a JSON object by their names: `order`, `user.id`."""
    given = _read(context)
    return dict(_named(given, "")) if isinstance(given, Mapping) else {}


def _read(context: str) -> Any:
    if not context.startswith(("{", "[")) or len(context) > MAX_CONTEXT:
        return None
    try:
        given = json.loads(context)
        # An escape may stand for what no text can hold: a half of a surrogate.
        return clean_json(given) if "\\u" in context else given
    except (ValueError, RecursionError):
        return None


def _scalars(given: Any) -> Iterator[str]:
    waiting = [given]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
        elif value is not None and not isinstance(value, bool):
            yield str(value)


def _named(given: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            if not path:  # two levels: what is deeper says little in a column
                yield from _named(value, f"{name}.")
        elif isinstance(value, str | int | float):
            yield f"{path}{name}", str(value).lower() if isinstance(value, bool) else str(value)
