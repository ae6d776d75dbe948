"""Reading the fields of a pushed event: what does not fit is cut or replaced, and flagged."""

import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from snaglist.kernel import key, times
from snaglist.plugins.issues import clean

MAX_TAGS = 20
MAX_TAG = 80
MAX_FINGERPRINT = 200
MAX_FINGERPRINT_PARTS = 10
MAX_CHANNEL = 120
MAX_STACK = 1_000_000
MAX_USER = 200
FUTURE_SECONDS = 300
MILLISECONDS_FROM = 1e11
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
T = TypeVar("T")
_NOT_CHANNEL = re.compile(r"[^a-z0-9._-]+", re.ASCII)


class Fields:
    """The fields of one event. `cut` tells that something of it was not kept as it was sent."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.cut = False

    def value(self, name: str, alias: str = "") -> Any:
        """Return a field as it was sent; an absent one and null are its alias."""
        found = self._given.get(name)
        return self._given.get(alias) if found is None and alias else found

    def text(self, name: str, limit: int, alias: str = "") -> str | None:
        """Return a short text, trimmed; None when there is none."""
        found = self._of_kind(name, str, alias)
        return None if found is None else self._short(found, limit)

    def scalar(self, name: str, limit: int) -> str | None:
        """Return a text, a number or a boolean as text."""
        found = self.value(name)
        if isinstance(found, bool):
            return str(found).lower()
        return self._short(str(found), limit) if isinstance(found, int | float) else self.text(name, limit)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return an object, empty by default."""
        return self._of_kind(name, dict) or {}

    def person(self) -> Mapping[str, Any] | str | None:
        """Return who it happened to: fields, or an id, name or address alone."""
        found = self.value("user")
        if isinstance(found, dict):
            return found
        return self.text("user", MAX_USER) if isinstance(found, bool) else self.scalar("user", MAX_USER)

    def items(self, name: str) -> list[Any]:
        """Return a list, empty by default."""
        return self._of_kind(name, list) or []

    def stack(self) -> str:
        """Return the stack, given as text or as lines."""
        found = self.value("stack")
        if isinstance(found, list):
            lines = [line for line in found if isinstance(line, str)]
            self.cut |= len(lines) < len(found)
            found = "\n".join(lines)
        else:
            found = self._of_kind("stack", str) or ""
        self.cut |= len(found) > MAX_STACK
        return clean(found[:MAX_STACK].strip("\r\n"))

    def occurred_at(self, now: str) -> str | None:
        """Return the time of the event; None when it cannot be read or lies in the future."""
        moment = _time(self.value("occurred_at", "timestamp"))
        return moment if moment is not None and moment <= times.add(now, seconds=FUTURE_SECONDS) else None

    def event_id(self) -> str | None:
        """Return the id, UUIDs in one form. A wrong one is dropped whole: a cut id could equal another one."""
        found = self._of_kind("event_id", str)
        if found is None or not _ID.fullmatch(found):
            self.cut |= found is not None
            return None
        return found.replace("-", "").lower() if _UUID.fullmatch(found) else found

    def channel(self) -> str:
        """Return the channel, reduced to the characters that a channel has."""
        found = _NOT_CHANNEL.sub("-", (self.text("channel", 4 * MAX_CHANNEL) or "").lower()).strip("-")
        self.cut |= len(found) > MAX_CHANNEL
        return found[:MAX_CHANNEL] or "app"

    def fingerprint(self) -> str | None:
        """Return the sender's own grouping value: a text, or texts joined."""
        found = self.value("fingerprint")
        if isinstance(found, list):
            parts = [part for part in found[:MAX_FINGERPRINT_PARTS] if isinstance(part, str)]
            self.cut |= len(parts) < len(found)
            return self._short("|".join(parts), MAX_FINGERPRINT)
        return self.text("fingerprint", MAX_FINGERPRINT)

    def tags(self) -> list[str]:
        """Return the tag names, distinct by their comparison key."""
        names: dict[str, str] = {}
        given = self.items("tags")
        for item in given:
            name = self._short(item, MAX_TAG) if isinstance(item, str) else None
            self.cut |= not isinstance(item, str)
            if name:
                names.setdefault(key(name), name)
        self.cut |= len(names) > MAX_TAGS
        return list(names.values())[:MAX_TAGS]

    def _of_kind(self, name: str, kind: type[T], alias: str = "") -> T | None:
        """Return a field that is of a kind; None where it is absent, or another kind of thing."""
        found = self.value(name, alias)
        if found is None or isinstance(found, kind):
            return found
        self.cut = True
        return None

    def _short(self, text: str, limit: int) -> str | None:
        text = clean(text.strip())
        self.cut |= len(text) > limit
        return text[:limit].rstrip() or None


def _time(value: object) -> str | None:
    """Read a time: a text as everywhere, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            moment = times.parse(value.strip())
            return moment if moment >= "1970" else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and math.isfinite(value):
            seconds = value / 1000 if value >= MILLISECONDS_FROM else value
            return times.from_stamp(seconds)
    except (ValueError, OverflowError, OSError):
        pass
    return None
