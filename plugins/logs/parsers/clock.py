"""Reading times of log lines: zones, missing years and dates, times that cannot be.

A parser names the form of a stamp and passes its text; nothing here follows the locale, and the
work per line is one dictionary look-up, because lines of the same minute are close together.
"""

import re
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from snaglist.kernel import times
from snaglist.plugins.logs.parsers.dates import read_date, two_digits
from snaglist.plugins.logs.parsers.month_names import MONTHS

MEMO_SIZE = 4096
EARLIEST = "1971"  # the year of the zero epoch is a clock that was never set, as is the year 0001
EPOCH = "1970-01-01 00:00:00"
SECONDS = frozenset(f"{second:02d}" for second in range(60))
DAY = timedelta(days=1)
# What a stamp says itself, in rising order; of two stamps of one entry the surer one counts.
NO_TIME, NO_DATE, NO_YEAR, NO_ZONE, EXACT = range(5)
HOUR = timedelta(hours=1)
# Lines of several writers are a little out of order; such a step back is no new year and no new day.
DAY_JITTER = timedelta(minutes=5)

ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "MEZ": 60, "MESZ": 120,
    "EET": 120, "EEST": 180, "MSK": 180, "JST": 540, "KST": 540, "HKT": 480, "SGT": 480, "AEST": 600, "AEDT": 660,
    "ACST": 570, "ACDT": 630, "AWST": 480, "NZST": 720, "NZDT": 780, "SAST": 120, "BRT": -180, "EST": -300,
    "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420, "AKST": -540,
    "AKDT": -480, "HST": -600, "EAT": 180, "WAT": 60, "CAT": 120, "PKT": 300, "WIB": 420, "NPT": 345,
}  # fmt: skip
# Names of several zones: the file's own zone counts, which is the only one that can be known.
AMBIGUOUS_ZONES = frozenset(("IST", "AST", "ADT", "ART", "ICT", "CLT", "CLST", "LMT"))

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", re.ASCII)
_FRACTION = ".,:0123456789"


class Clock:
    """The times of one file: its zone, its modification time, and the dates read so far.

    `back` is how many years or days earlier the first stamp without them is than it seems; a clock that is
    not `bounded` by the modification time finds that out (`steps_back`).
    Every method returns `YYYY-MM-DD HH:MM:SS` in UTC, or "" when the text is no usable time.
    """

    def __init__(self, zone: str, modified_at: str, now: str, *, back: int = 0, bounded: bool = True) -> None:
        try:
            self.zone = ZoneInfo(zone or "UTC")
        except (ZoneInfoNotFoundError, ValueError):
            self.zone = ZoneInfo("UTC")
        self.latest = times.add(now, days=1)
        # No file changed before the epoch or will have changed tomorrow; stamps without a date count from here.
        modified = min(max(modified_at, EPOCH), self.latest)
        self.modified = times.read(modified).astimezone(self.zone).replace(tzinfo=None)
        self.relative = ""  # "year" or "day" once a stamp lacked it
        self.sure = NO_TIME  # how much of the time the stamp read last said itself
        self.position: datetime | None = None  # the local time read last of such a stamp
        self.order = ""  # of day, month and year in dates of numbers, such as "dmy", where the file tells it
        self._back = back
        self._bounded = bounded
        self.last = ("", "", NO_TIME)  # the text of the form `written` read last, its time, and how sure it is
        self._minutes: dict[tuple[str, str], str] = {}

    def in_zone(self, zone: str) -> "Clock":
        """Return a clock of the same file for times of another zone."""
        other = copy(self)
        other.zone, other._minutes = ZoneInfo(zone), {}
        return other

    def read(self, form: str, text: str) -> str:
        """Read a stamp of a named form, such as `iso`: see `FORMS`, and Log formats in docs/plugins.md."""
        try:
            return FORMS[form](self, text)
        except (ValueError, IndexError, OverflowError):  # no stamp of this form, or one beyond the calendar
            return ""

    def iso(self, text: str) -> str:
        """Read `YYYY-MM-DD HH:MM:SS`, `T` allowed, with any fraction and an offset or zone name behind it."""
        zone = text[19:].lstrip(_FRACTION).strip() if len(text) > 19 else ""
        return self.at(text[:16], text[17:19], zone)

    def at(self, minute: str, second: str, zone: str = "") -> str:
        """Read `YYYY-MM-DD HH:MM` with seconds and a zone given apart."""
        self.sure = EXACT if zone else NO_ZONE
        known = self._minutes.get((minute, zone))
        if known is None:
            known = self._convert(minute, zone)
            if len(self._minutes) >= MEMO_SIZE:
                self._minutes.clear()
            self._minutes[minute, zone] = known
        if not known:
            return ""
        if second not in SECONDS:
            if second != "60":
                return ""
            second = "59"  # a leap second
        found = f"{known}:{second}"
        return found if found <= self.latest else ""

    def _convert(self, minute: str, zone: str) -> str:
        try:
            local = datetime.fromisoformat(minute)
            moment = local.replace(tzinfo=self._zone_of(zone)).astimezone(UTC)
        except (ValueError, OverflowError):
            return ""
        shown = times.show(moment)
        return shown[:16] if EARLIEST < shown <= self.latest else ""

    def _zone_of(self, name: str) -> tzinfo:
        offset = _offset(name.partition(" ")[0].partition("[")[0].strip("()"))
        if offset is not None:
            return timezone(offset)
        if "/" in name:
            try:
                return ZoneInfo(name)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                pass
        return self.zone

    def epoch(self, number: float) -> str:
        """Read seconds, milliseconds, microseconds or nanoseconds since 1970."""
        self.sure = EXACT
        size = abs(number)
        for limit, divisor in ((1e11, 1), (1e14, 10**3), (1e17, 10**6), (1e20, 10**9)):
            if size < limit:
                try:
                    shown = times.show(datetime.fromtimestamp(number // divisor, UTC))
                except (ValueError, OverflowError, OSError):
                    return ""
                return shown if EARLIEST < shown <= self.latest else ""
        return ""

    def without_year(self, month: int, day: int, clock: str, zone: str = "") -> str:
        """Read a date without year: counted from the file's modification time and the stamps before."""
        self.relative = self.relative or "year"
        last = self.position
        if last is None:
            found = self._on_or_before(month, day, clock)
        else:
            found = _build(last.year, month, day, clock)
            if found is None:  # 29 February of another year
                found = _build(last.year + 1, month, day, clock)
            elif found < last - DAY and month < last.month:
                later = _build(last.year + 1, month, day, clock)
                found = later if later and self._may_be(later, DAY) else found
            elif found > last + 364 * DAY:
                found = _build(last.year - 1, month, day, clock)
        if found is None:
            return ""
        self.position = found
        read = self.at(found.isoformat(" ", "minutes"), f"{found.second:02d}", zone)
        self.sure = NO_YEAR
        return read

    def _may_be(self, moment: datetime, slack: timedelta) -> bool:
        """Tell whether a step forward stays before the last change of the file."""
        return not self._bounded or moment <= self.modified + slack

    def _on_or_before(self, month: int, day: int, clock: str) -> datetime | None:
        back = self._back
        latest = self.modified.year + (self.modified.month == 12)  # a clock ahead of the file's may be in the new year
        for year in range(latest, latest - 30, -1):
            found = _build(year, month, day, clock)
            if found is not None and found <= self.modified + DAY:
                if not back:
                    return found
                back -= 1
        return None

    def without_date(self, clock: str) -> str:
        """Read a time of day: counted from the file's modification time and the stamps before."""
        self.relative = self.relative or "day"
        last = self.position
        anchor = last or self.modified
        found = _build(anchor.year, anchor.month, anchor.day, clock)
        if found is None:
            return ""
        if last is None:
            found -= (self._back + (found > self.modified)) * DAY
        elif found < last - DAY_JITTER and found.hour < last.hour:
            found += DAY if self._may_be(found + DAY, HOUR) else timedelta()
        elif found > last + DAY - DAY_JITTER:
            found -= DAY
        self.position = found
        read = self.at(found.isoformat(" ", "minutes"), f"{found.second:02d}")
        self.sure = NO_DATE
        return read

    def steps_back(self) -> int:
        """Tell how many years or days the first stamp lies earlier than it seemed, now that more were read."""
        steps = 0
        if self.position is not None:
            ahead = self.position - self.modified
            if self.relative == "year" and ahead > DAY:
                steps = -(-(ahead - DAY) // (365 * DAY))
            elif self.relative == "day" and ahead > timedelta():
                steps = -(-ahead // DAY)
        return int(steps)


def _offset(zone: str) -> timedelta | None:
    """Return the distance from UTC; None: not given, or letters that nobody knows."""
    if not zone:
        return None
    minutes = ZONES.get(zone.upper())
    if minutes is not None:
        return timedelta(minutes=minutes)
    if len(zone) == 4 and zone[0] in "+-" and zone[1:].isdigit():
        return timedelta(minutes=int(zone))  # of Db2 and of Configuration Manager
    found = _OFFSET.fullmatch(zone)
    if not found:
        return None
    sign, hours, rest = found.groups()
    distance = timedelta(hours=int(hours), minutes=int(rest or 0))
    return -distance if sign == "-" else distance


def _build(year: int, month: int, day: int, clock: str) -> datetime | None:
    second = min(int(clock[6:8]), 59)
    try:
        return datetime(year, month, day, int(clock[:2]), int(clock[3:5]), second)
    except ValueError:
        return None


def month_number(name: str) -> int:
    """Return the number of a month name, 0 for none."""
    return MONTHS.get(name.rstrip(".").lower(), 0)


_DOTTED = re.compile(
    r"(?<=[-T_ ])(\d\d)(?:\.(?=\d\d\.)|-(?=\d\d-))(\d\d)[.-](\d\d)(?:[.,:]\d{1,9})?(?![\d.]|-\d\d(?!\d))"
    r"(?:[ \xa0\u202f]?([AaPp])\.?[Mm]\b\.?)?",
    re.ASCII,
)
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,:]\d{1,9})?)?[ \xa0\u202f]?(?:([AaPp])\.?[Mm]\b\.?)?", re.ASCII
)
_DIGITS = re.compile(r"\d+", re.ASCII)


def _written(clock: Clock, text: str) -> str:
    """Read a stamp by what its parts are: `11. Okt 2025 07:30:15`, `2/11/2025, 7:30 PM`, `Tue Feb 11 08:30 CET 2025`.

    Lines of one moment follow one another, so the last one is remembered.
    """
    if text != clock.last[0]:
        clock.last = (text, _read_written(clock, text), clock.sure)
    clock.sure = clock.last[2]
    return clock.last[1]


def _read_written(clock: Clock, text: str) -> str:
    if text[4:5] == ":" == text[7:8]:
        text = f"{text[:4]}-{text[5:7]}-{text[8:]}"  # `2025:02:11-07:30:15`
    found = (_DOTTED.search(text) if text.count(":") < 2 else None) or _CLOCK.search(text)
    if found is None:
        return ""
    hour, minute, second, half = found.groups()
    shown = f"{_hour(hour, half):02d}:{minute}:{second or '00'}"
    zone, year = text[found.end() :].strip(), ""
    if not zone and (first := text.partition(" ")[0]) in ZONES:  # `PDT Apr 16 21:05:29`
        zone = first
    if zone[-4:].isdigit() and (len(zone) == 4 or zone[-5] == " "):
        zone, year = zone[:-4].strip(), zone[-4:]
    date = read_date(text[: found.start()], clock.order, year)
    if date is None:
        return ""
    if date[0] is None:
        return clock.without_year(date[1], date[2], shown, zone)
    return clock.at(f"{date[0]:04d}-{date[1]:02d}-{date[2]:02d} {shown[:5]}", shown[6:], zone)


def _hour(hour: str, half: str | None) -> int:
    number = int(hour)
    if not half:
        return number
    return number % 12 + (12 if half in "Pp" else 0)


def _slashed(clock: Clock, text: str) -> str:
    """Read `2024/09/17 10:00:00`."""
    return clock.iso(f"{text[:4]}-{text[5:7]}-{text[8:]}")


def _named(clock: Clock, text: str) -> str:
    """Read `10/Oct/2024:13:55:36 +0000`, `05-Mar-2024 08:15:30 UTC`, `05 Mar 2024 08:15:30`."""
    return clock.at(
        f"{text[7:11]}-{month_number(text[3:6]):02d}-{text[:2]} {text[12:17]}",
        text[18:20],
        text[20:].lstrip(_FRACTION).strip(),
    )


def _ctime(clock: Clock, text: str) -> str:
    """Read `Fri Jul 05 10:42:29.902022 2024`."""
    _, month, day, time, *rest = text.split()
    year = rest[-1] if rest else "0000"
    return clock.at(f"{year}-{month_number(month):02d}-{int(day):02d} {time[:5]}", time[6:8])


def _syslog(clock: Clock, text: str) -> str:
    """Read `Jan  2 03:04:05`."""
    month, day, time = text.split()[:3]
    return clock.without_year(month_number(month), int(day), time[:8])


def _month_day(clock: Clock, text: str) -> str:
    """Read `03-05 08:15:30` and `03.05 08:15:30`."""
    return clock.without_year(int(text[:2]), int(text[3:5]), text[6:14])


def _compact(clock: Clock, text: str) -> str:
    """Read `240305 081530`, `20240305 081530`, `20240305-081530`, `20240305T081530.120Z`."""
    parts = _DIGITS.findall(text)
    digits = parts[0] if len(parts[0]) == 14 else parts[0] + parts[1]
    if len(digits) == 12:
        digits = str(two_digits(int(digits[:2]))) + digits[2:]
    year, month, day, hour, minute, second = (
        digits[:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12], digits[12:14],
    )  # fmt: skip
    zone = "Z" if text.endswith("Z") else text[-5:] if text[-5] in "+-" and len(text) >= 20 else ""
    return clock.at(f"{year}-{month}-{day} {hour}:{minute}", second, zone)


def _day_clock(clock: Clock, text: str) -> str:
    """Read `20240305-8:15:30:250`, `240305  8:15:30`."""
    date, hour, minute, second = _DIGITS.findall(text)[:4]
    year = int(date[:-4])
    return clock.at(f"{two_digits(year):04d}-{date[-4:-2]}-{date[-2:]} {int(hour):02d}:{minute:0>2}", f"{second:0>2}")


def _clock(clock: Clock, text: str) -> str:
    """Read `7:30:15 PM`, `7:30:15`."""
    found = _CLOCK.match(text)
    if found is None:
        return ""
    hour, minute, second, half = found.groups()
    return clock.without_date(f"{_hour(hour, half):02d}:{minute}:{second or '00'}")


def _tai(clock: Clock, text: str) -> str:
    """Read a TAI64N label: `@`, 2^62 and the seconds, ten ahead of those since 1970, then nanoseconds."""
    return clock.epoch(int(text[1:17], 16) - (1 << 62) - 10)


def _month_day_compact(clock: Clock, text: str) -> str:
    """Read `0305 08:15:30.123456`."""
    return clock.without_year(int(text[:2]), int(text[2:4]), text[5:13])


FORMS: dict[str, Callable[[Clock, str], str]] = {
    "iso": Clock.iso,
    "slashed": _slashed,
    "numeric": _written,  # the name that plugins know
    "written": _written,
    "named": _named,
    "ctime": _ctime,
    "syslog": _syslog,
    "month_day": _month_day,
    "compact": _compact,
    "day_clock": _day_clock,
    "month_day_compact": _month_day_compact,
    "time": lambda clock, text: clock.without_date(text[:8]),
    "clock": _clock,
    "epoch": lambda clock, text: clock.epoch(float(text.replace(",", "."))),
    "tai": _tai,
    "uptime": lambda clock, text: "",  # since a start that is not known
}
