"""Fields of records by their plain names: `LogLevel`, `log_level`, `log-level` and `log.level` are one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.stamps import find_stamp

_SEPARATORS = str.maketrans("", "", "_-. ")
_MEMO_SIZE = 4096
_plain: dict[str, str] = {}

# Where a time is an object: what in it is the time.
_TIME_PARTS = ("date", "$date", "epochSecond", "seconds", "timestamp", "repr")
# Longer text is no time.
_MAX_TIME = 60


def plain_name(name: str) -> str:
    """Return a name in lower case without separators."""
    known = _plain.get(name)
    if known is None:
        known = name.lower().translate(_SEPARATORS)
        if len(_plain) >= _MEMO_SIZE:
            _plain.clear()
        _plain[name] = known
    return known


class Fields:
    """The fields of one record, to be taken out by plain name; of two with one plain name the first counts."""

    __slots__ = ("names", "rest")

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.rest = dict(record)
        self.names: dict[str, str] = {}
        for name in record:
            self.names.setdefault(plain_name(name), name)

    def __contains__(self, plain: str) -> bool:
        return plain in self.names

    def get(self, plain: str) -> Any:
        """Return a value, None for none."""
        name = self.names.get(plain)
        return None if name is None else self.rest[name]

    def put(self, plain: str, value: Any) -> None:
        """Set a value, under the name that it has."""
        self.rest[self.names.setdefault(plain, plain)] = value

    def drop(self, plain: str) -> Any:
        """Take a value out and return it, None for none."""
        name = self.names.pop(plain, None)
        return None if name is None else self.rest.pop(name)

    def texts(self, plains: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Return the names and values, of those given, that are text."""
        for plain in plains:
            value = self.get(plain)
            if isinstance(value, str) and value:
                yield plain, value

    def text(self, plains: Iterable[str]) -> str:
        """Return the first text, "" without any."""
        return next((value for _, value in self.texts(plains)), "")

    def take(self, plains: Iterable[str]) -> str:
        """Take the first text out and return it, "" without any."""
        for plain, value in self.texts(plains):
            self.drop(plain)
            return value
        return ""


def stamp_of(value: object) -> tuple[str, str]:
    """Return the form and text of a time, given as text, as a number since 1970 or as an object with either."""
    if isinstance(value, Mapping):
        value = next((value[part] for part in _TIME_PARTS if part in value), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "epoch", repr(value)
    if not isinstance(value, str) or len(value) > _MAX_TIME:
        return "", ""
    text = value.strip()
    if text[4:5] == "-" and text[10:11] in ("T", " "):
        return "iso", text
    if text[:6] == "/Date(" and text[-2:] == ")/":
        text = text[6:-2]
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return "epoch", text
    found = find_stamp(text)
    return (found[0], text[: found[2]].strip("[]()")) if found else ("", "")


def read_time(value: object, clock: Clock) -> str:
    """Read a time, "" for none."""
    form, text = stamp_of(value)
    return clock.read(form, text) if form else ""


def joined_time(date: object, time: object, zone: object = "") -> str:
    """Return date and time of day, which stand in two fields, as one ISO time; "" when they are no such pair."""
    if not isinstance(date, str) or not isinstance(time, str):
        return ""
    if len(date) != 10 or date[4] not in "-/" or time[2:3] != ":" or time[5:6] != ":":
        return ""
    return f"{date.replace('/', '-')} {time}{zone if isinstance(zone, str) else ''}"
