"""Exports of the system journal as JSON: one object per line with `__REALTIME_TIMESTAMP` and `MESSAGE`."""

from typing import Any

from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.context import load
from snaglist.plugins.logs.parsers.lines import clean
from snaglist.plugins.logs.parsers.severity import SYSLOG

_TIMES = ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP")
_PROGRAMS = ("SYSLOG_IDENTIFIER", "_COMM", "_SYSTEMD_UNIT")


class Journal(Parser):
    """The channel is the program, the server name the host. Messages that are no text come as byte values."""

    log_type = "journal"
    begins = "{"

    def header(self, line: str) -> Wrapped | None:
        """Decode a record."""
        if line[:1] != "{" or "_REALTIME_TIMESTAMP" not in line:
            return None
        value = load(line)
        return wrap(value) if isinstance(value, dict) else None


def wrap(fields: dict[str, Any]) -> Wrapped | None:
    """Make the wrapped line of a record's fields."""
    time = next((str(fields[name]) for name in _TIMES if str(fields.get(name, "")).isdigit()), "")
    if not time:
        return None
    priority = str(fields.get("PRIORITY", ""))
    program = _text(next((fields[name] for name in _PROGRAMS if fields.get(name)), ""))
    host = _text(fields.get("_HOSTNAME", ""))
    return Wrapped(
        clean(_text(fields.get("MESSAGE", ""))).rstrip("\r\n"),
        ("epoch", time),
        f"{host} {program} {_text(fields.get('_PID', ''))}",
        severity=SYSLOG[int(priority)] if priority in ("0", "1", "2", "3", "4", "5", "6", "7") else "",
        channel=program,
        server_name=host or None,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", "replace")
        return _text(value[0]) if value else ""
    return ""
