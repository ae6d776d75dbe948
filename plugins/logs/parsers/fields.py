"""Fields of records by their plain names: `LogLevel`, `log_level`, `log-level` and `log.level` are one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.stamps import find_stamp

_SEPARATORS = str.maketrans("", "", "_-. ")
_MEMO_SIZE = 1024  # shapes
_MAX_REMEMBERED = 100  # names of one; an object with more is data

# Where a time is an object: what in it is the time.
_TIME_PARTS = ("date", "$date", "epochSecond", "seconds", "timestamp", "repr")
# Longer text is no time.
_MAX_TIME = 60


def plain_name(name: str) -> str:
    """Return a name in lower case without separators."""
    return name.lower().translate(_SEPARATORS)


class Names:
    """Plain names of one meaning, the surest first."""

    __slots__ = ("_names",)

    def __init__(self, *names: str) -> None:
        self._names = names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


class Shape(dict[Names, tuple[str, ...]]):
    """Which names of a meaning a record has; records of one logger have the same, so it is worked out once."""

    __slots__ = ("names",)

    def __init__(self, given: Iterable[str]) -> None:
        super().__init__()
        self.names: dict[str, str] = {}  # plain → as the record has it
        for name in given:
            self.names.setdefault(plain_name(name), name)

    def __missing__(self, names: Names) -> tuple[str, ...]:
        found = self[names] = tuple(name for name in names if name in self.names)
        return found


_shapes: dict[tuple[str, ...], Shape] = {}


def _shape_of(record: Mapping[str, Any]) -> Shape:
    given = tuple(record)
    shape = _shapes.get(given)
    if shape is None:
        if len(_shapes) >= _MEMO_SIZE:
            _shapes.clear()
        shape = Shape(given)
        if len(given) <= _MAX_REMEMBERED:
            _shapes[given] = shape
    return shape


class Fields:
    """The fields of one record, to be taken out by plain name; of two with one plain name the first counts.

    The record is taken over: what is taken out is gone from it.
    """

    __slots__ = ("rest", "shape")

    def __init__(self, record: dict[str, Any], shape: Shape | None = None) -> None:
        self.rest = record
        self.shape = shape or _shape_of(record)

    def copy(self) -> "Fields":
        """Return the same fields, to be taken out apart."""
        return Fields(dict(self.rest), self.shape)

    def __contains__(self, plain: str) -> bool:
        return self.shape.names.get(plain) in self.rest

    def name_of(self, plain: str) -> str:
        """Return a name as the record has it."""
        return self.shape.names[plain]

    def get(self, plain: str) -> Any:
        """Return a value, None for none."""
        name = self.shape.names.get(plain)
        return None if name is None else self.rest.get(name)

    def put(self, plain: str, value: Any) -> None:
        """Set a value, under the name that it has."""
        name = self.shape.names.get(plain)
        self.rest[name or plain] = value
        if name is None:
            self.shape = _shape_of(self.rest)

    def drop(self, plain: str) -> Any:
        """Take a value out and return it, None for none."""
        name = self.shape.names.get(plain)
        return None if name is None else self.rest.pop(name, None)

    def among(self, names: Names) -> tuple[str, ...]:
        """Return those of the names that the record had at first."""
        return self.shape[names]

    def text(self, names: Names) -> str:
        """Return the first text, "" without any."""
        for plain in self.shape[names]:
            value = self.rest.get(self.shape.names[plain])
            if isinstance(value, str) and value:
                return value
        return ""

    def take(self, names: Names) -> str:
        """Take the first text out and return it, "" without any."""
        for plain in self.shape[names]:
            name = self.shape.names[plain]
            value = self.rest.get(name)
            if isinstance(value, str) and value:
                del self.rest[name]
                return value
        return ""


def stamp_of(value: object) -> tuple[str, str]:
    """Return the form and text of a time, given as text, as a number since 1970 or as an object with either."""
    if isinstance(value, dict):
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
