"""Logs as rows of separated values: such whose first row names the columns, and PostgreSQL's csvlog, which has none."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.fields import Fields, plain_name, stamp_of
from snaglist.plugins.logs.parsers.json_levels import LEVELS, find_level
from snaglist.plugins.logs.parsers.json_lines import MESSAGES, TIMES, WEAK_MESSAGES, WEAK_TIMES, record_event

# Column names of the documentation of PostgreSQL, as its JSON log calls them; later versions have more.
_POSTGRES = (
    "timestamp", "user", "dbname", "pid", "connection_from", "session_id", "line_num", "ps", "session_start", "vxid",
    "txid", "error_severity", "state_code", "message", "detail", "hint", "internal_query", "internal_position",
    "context", "statement", "cursor_position", "func_name", "application_name", "backend_type", "leader_pid",
    "query_id",
)  # fmt: skip
_POSTGRES_ROW = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? [\w+:-]{1,10},"
    r'(?:(?:"(?:[^"]|""){0,2000}"|[^",]{0,300}),){10}(?:[A-Z]{3,7}\d?),[0-9A-Z]{5},',
    re.ASCII,
)
_DELIMITERS = ",;\t|"
_TIME_NAMES = frozenset((*TIMES, *WEAK_TIMES, "dateandtime", "timegenerated", "timewritten"))
_LEVEL_NAMES = frozenset((*LEVELS, "entrytype", "eventtype")) - {"pri"}
_MESSAGE_NAMES = frozenset((*MESSAGES, *WEAK_MESSAGES)) - {"event"}
# What other columns are called in records.
_ALIASES = {
    "dateandtime": "time", "timegenerated": "time", "timewritten": "time", "entrytype": "level", "eventtype": "level",
    "source": "logger",
}  # fmt: skip
_MAX_HEADER = 4096


class Row(NamedTuple):
    """A row's first line, and what its values are called."""

    line: str
    columns: Sequence[str]
    delimiter: str


class CsvRows(Parser):
    """Rows with a time and a level or message. A value in quotes may go over lines; one row is one entry."""

    log_type = "csv"
    begins = "2"

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._delimiter = ","
        self._first = ""

    def fresh(self) -> "CsvRows":
        """Return a parser that knows no columns."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Find the row that names the columns."""
        self._columns, self._first = [], ""
        for line in lines[:3]:
            if line.startswith("#TYPE ") or not line.strip():
                continue
            if line[0] in "[{":
                return
            for delimiter in _DELIMITERS:
                names = split_row(line[:_MAX_HEADER], delimiter)
                if len(names) > 1 and _names_log(names):
                    self._columns, self._delimiter, self._first = names, delimiter, line
                    return
            return

    def header(self, line: str) -> Any | None:
        """Read a row as far as it stands on the line."""
        if not self._columns:
            return self.foreign(line)
        if line == self._first or line.startswith("#TYPE "):
            return DIRECTIVE
        if line[:2] == '""' and line[2:3] != self._delimiter:
            return None
        values = split_row(line, self._delimiter)
        whole = line.count('"') % 2 == 0
        if len(values) < len(self._columns) if whole else line[:1] != '"' and '"' in values[0]:
            return None  # a part of a row, or the end of one whose quotes opened above
        row = Row(line, self._columns, self._delimiter)
        return row if self._makes_sense(values, line) else None

    def foreign(self, line: str) -> Row | None:
        """Read a row whose columns are known."""
        if line[:1] != "2" or _POSTGRES_ROW.match(line) is None:
            return None
        return Row(line, _POSTGRES, ",")

    def incomplete(self, line: str, before: bool) -> bool:
        """Tell whether quotes are open."""
        return before != (line.count('"') % 2 == 1)

    def event(self, header: Row, lines: Sequence[str], clock: Clock) -> Event:
        """Read the row as a record."""
        values = split_row("\n".join([header.line, *lines]), header.delimiter)
        record: dict[str, Any] = {}
        for name, value in zip(header.columns, values, strict=False):
            if value:
                record.setdefault(_ALIASES.get(plain_name(name), name), value)
        more = [value for value in values[len(header.columns) :] if value.strip()]
        if more:  # the event viewer names no column for the message
            record.setdefault("message", more.pop(0).strip())
        if more:
            record["more"] = more
        return record_event(Fields(record), clock)

    def _makes_sense(self, values: Sequence[str], line: str) -> bool:
        """Tell whether the time or the level of a row is one; a row may be open in front of both."""
        known = dict(zip((plain_name(name) for name in self._columns), values, strict=False))
        for name, value in known.items():
            if name in _TIME_NAMES and stamp_of(value)[0]:
                return True
            if name in _LEVEL_NAMES and find_level(Fields({"level": value})):
                return True
        return line[:1] == '"' and len(values) < len(self._columns)


def _names_log(names: Sequence[str]) -> bool:
    plain = {plain_name(name) for name in names}
    if not plain.isdisjoint(_TIME_NAMES):
        return not plain.isdisjoint(_LEVEL_NAMES | _MESSAGE_NAMES)
    return not plain.isdisjoint(_LEVEL_NAMES) and not plain.isdisjoint(_MESSAGE_NAMES)


def split_row(text: str, delimiter: str) -> list[str]:
    """Split a row; quotes within quotes are doubled, and a quote that does not end reaches to the end."""
    values: list[str] = []
    position = 0
    while True:
        if text[position : position + 1] == '"':
            end = _closing(text, position + 1)
            values.append(text[position + 1 : end].replace('""', '"'))
            position = text.find(delimiter, end + 1)
        else:
            end = text.find(delimiter, position)
            values.append(text[position : end if end >= 0 else len(text)])
            position = end
        if position < 0:
            return values
        position += 1


def _closing(text: str, position: int) -> int:
    """Return the place of the quote that ends a value, the end of the text without one."""
    while True:
        position = text.find('"', position)
        if position < 0:
            return len(text)
        if text[position + 1 : position + 2] != '"':
            return position
        position += 2
