"""Time as the contract has it: `YYYY-MM-DD HH:MM:SS`, UTC, whole seconds, as text."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

__all__ = [
    "FIRST", "LAST", "add", "from_stamp", "hour", "is_time", "now", "of_file", "parse", "parse_date", "parse_zone",
    "read", "show",
]  # fmt: skip

_INPUT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?", re.ASCII | re.IGNORECASE
)
FIRST, LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59"  # nothing lies outside
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def now() -> str:
    """Return the current time."""
    return show(datetime.now(UTC))


def show(moment: datetime) -> str:
    """Return an aware time in the contract's form; fractions are cut."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")


def from_stamp(seconds: float) -> str:
    """Return the time of seconds since 1970; raises ValueError or OverflowError for what is no year of four digits."""
    return show(datetime.fromtimestamp(int(seconds), UTC))


def of_file(seconds: float) -> str:
    """Return the time of a file's stamp, seconds since 1970; what is beyond the years of four digits is their end."""
    return from_stamp(min(max(seconds, read(FIRST).timestamp()), read(LAST).timestamp()))


def read(text: str) -> datetime:
    """Return the aware time of a text in the contract's own form."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def add(text: str, *, seconds: float = 0, days: float = 0) -> str:
    """Return the time moved by seconds and days (negative: earlier), no further than to `FIRST` or `LAST`."""
    try:
        return show(read(text) + timedelta(days=days, seconds=seconds))
    except OverflowError:
        return FIRST if days < 0 or seconds < 0 else LAST


def is_time(value: object) -> bool:
    """Tell whether a value is a time in the contract's form that exists."""
    return isinstance(value, str) and len(value) == 19 and _exists(value)


@lru_cache(maxsize=1024)  # PERF: asked for every event on its way, and many share a second
def _exists(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).isoformat(" ") == text
    except ValueError:
        return False


def hour(text: str) -> str:
    """Return the first second of the hour of a time."""
    return text[:13] + ":00:00"


def parse(text: str) -> str:
    """Read a time given by a caller: the contract's form, or ISO 8601 with `Z` or an offset.

    Raises ValueError for anything else and for times that do not exist.
    """
    found = _INPUT.fullmatch(text)
    if not found:
        raise ValueError("not a time")
    day, clock, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day} {clock}{(zone or 'Z').upper()}")
        return show(moment)
    except OverflowError as error:
        raise ValueError("not a time") from error


def parse_date(text: str) -> str:
    """Read a date `YYYY-MM-DD` that exists; raises ValueError otherwise."""
    if not _DATE.fullmatch(text):
        raise ValueError("not a date")
    return date.fromisoformat(text).isoformat()


def parse_zone(text: str) -> str:
    """Read the IANA name of a time zone that is known here; raises ValueError otherwise."""
    # A slash at the start and dots make file names. The other names are of files beside the zones: copies of some that
    # count leap seconds, and zones of this machine.
    if not re.fullmatch(r"(?!/|right/|posix|localtime)[A-Za-z0-9_+/-]{1,64}", text):
        raise ValueError("not a time zone")
    try:
        return ZoneInfo(text).key
    except (KeyError, OSError) as error:
        raise ValueError("not a time zone") from error
