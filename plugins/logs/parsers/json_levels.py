"""The level of a record. A word says it; a number only where the family that counts so is known.

Sources of the numbers: syslog RFC 5424; pino, bunyan; Python's logging; logback; OpenTelemetry's log data model;
Microsoft.Extensions.Logging; Nextcloud; Monolog; Windows events.
"""

from functools import lru_cache

from snaglist.plugins.logs.parsers.fields import Fields, Names, plain_name
from snaglist.plugins.logs.parsers.severity import LETTERS, SYSLOG, by_name

# Names of a level; what says it in a word comes first.
LEVELS = Names(
    "levelname", "level", "severity", "loglevel", "severitytext", "lvl", "errorseverity", "@l", "@level",
    "severitylabel", "leveldisplayname", "logseverity", "severityname", "sev", "leveltext", "levelstr",
    "priority", "prio", "pri",
)  # fmt: skip
NUMBERS = Names("levelno", "levelvalue", "severitynumber")
# A status is mostly something else, so it is a level only in these words.
_STATUS = frozenset(
    ("emergency", "emerg", "alert", "critical", "crit", "fatal", "error", "err", "warning", "warn", "notice", "info",
     "debug"),
)  # fmt: skip
_NEXTCLOUD = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
WINDOWS = ("INFO", "CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")
# Trace, debug, information, warning, error, fatal: most count these six, in steps of their own.
_SIX = ("DEBUG", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_MONOLOG = {
    100: "DEBUG", 200: "INFO", 250: "NOTICE", 300: "WARNING", 400: "ERROR", 500: "CRITICAL", 550: "ALERT",
    600: "EMERGENCY",
}  # fmt: skip
_SYSLOG_FIELDS = Names(
    "facility", "syslogfacility", "syslogidentifier", "shortmessage", "facilitylabel", "facilitycode", "transport",
    "systemdunit", "procid", "appname",
)  # fmt: skip


def take_level(fields: Fields) -> str:
    """Return the severity that the record says, "" for none, and take out what said it."""
    found = find_level(fields)
    if not found:
        return ""
    plain, severity = found
    fields.drop(plain)
    if plain == "levelname" and not isinstance(fields.get("level"), str):
        fields.drop("level")
    return severity


def find_level(fields: Fields) -> tuple[str, str] | None:
    """Return the plain name of the field that says the level, and the severity."""
    given = fields.among(LEVELS)
    for plain in given:
        severity = _by_word(fields.get(plain))
        if severity:
            return plain, severity
    for plain in (*fields.among(NUMBERS), *given):
        severity = _by_number(plain, _number(fields.get(plain)), fields)
        if severity:
            return plain, severity
    status = fields.get("status")
    if isinstance(status, str) and status.lower() in _STATUS:
        return "status", by_name(status)
    letter = fields.get("s")  # MongoDB: severity and component
    if isinstance(letter, str) and letter[:1] in LETTERS and len(letter) < 3 and "c" in fields:
        return "s", LETTERS[letter[:1]]
    return None


def _by_word(value: object) -> str:
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, dict):  # the level as an object: its name, or what it wraps
        names = {plain_name(name): name for name in value if isinstance(name, str)}
        return next(
            (_by_word(value[names[name]]) for name in ("name", "levelstr", "standardlevel") if name in names), ""
        )
    return ""


@lru_cache(1024)
def _word(value: str) -> str:
    if value[:6].upper() == "LEVEL(":  # zap's name of a level that has none: all above debug are known
        return "DEBUG" if value[6:7] == "-" else ""
    return by_name(value) or (LETTERS.get(value, "") if len(value) == 1 else "")


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 7:
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6:
        return int(value)
    return None


def _by_number(plain: str, number: int | None, fields: Fields) -> str:
    """Return the severity of a number, by the family that the other fields show."""
    if number is None:  # below zero: how talkative a line of zap or slog is
        value = fields.get(plain)
        return "DEBUG" if isinstance(value, int) and -100 < value < 0 else ""
    if plain == "levelno" or ("funcname" in fields and "lineno" in fields):
        return _SIX[min(number // 10, 5)] if number else ""
    if plain == "levelvalue" or (number >= 5000 and not number % 5000):
        return _SIX[min(number // 10000, 5)]
    if plain == "severitynumber":
        return _SIX[(number - 1) // 4] if 1 <= number <= 24 else ""
    if number in _MONOLOG and ("levelname" in fields or "channel" in fields):
        return _MONOLOG[number]
    if 10 <= number <= 60 and (not number % 10 or _is_bunyan(fields)):
        return _SIX[number // 10 - 1]
    return _small(plain, number, fields)


def _is_bunyan(fields: Fields) -> bool:
    return ("pid" in fields and "hostname" in fields) or ("v" in fields and "name" in fields)


def _small(plain: str, number: int, fields: Fields) -> str:
    """Return the severity of a number below ten: the families contradict each other, so one has to be recognised."""
    if number > 7:
        return ""
    if plain == "pri" or fields.name_of(plain) == "PRIORITY" or fields.among(_SYSLOG_FIELDS):
        return SYSLOG[number]
    if "reqid" in fields and "remoteaddr" in fields and "app" in fields:
        return _get(_NEXTCLOUD, number)
    if "providername" in fields or "providerguid" in fields:
        return _get(WINDOWS, number)
    if "eventid" in fields or "category" in fields:
        return _get(_SIX, number)
    return ""


def _get(table: tuple[str, ...], number: int) -> str:
    return table[number] if number < len(table) else ""
