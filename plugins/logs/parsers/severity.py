"""Severity names and numbers of other people's loggers, and what a plain sentence says about itself."""

import re

NAMES = {
    "EMERGENCY": "EMERGENCY",
    "EMERG": "EMERGENCY",
    "ALERT": "ALERT",
    "CRITICAL": "CRITICAL",
    "CRIT": "CRITICAL",
    "CRT": "CRITICAL",
    "FATAL": "CRITICAL",
    "FTL": "CRITICAL",
    "PANIC": "CRITICAL",
    "DPANIC": "CRITICAL",
    "ERROR": "ERROR",
    "ERR": "ERROR",
    "SEVERE": "ERROR",
    "WARNING": "WARNING",
    "WARN": "WARNING",
    "WRN": "WARNING",
    "NOTICE": "NOTICE",
    "NTC": "NOTICE",
    "NOTE": "INFO",
    "INFO": "INFO",
    "INF": "INFO",
    "INFORMATION": "INFO",
    "LOG": "INFO",
    "CONFIG": "DEBUG",
    "DEBUG": "DEBUG",
    "DEBUG1": "DEBUG",
    "DEBUG2": "DEBUG",
    "DBG": "DEBUG",
    "TRACE": "DEBUG",
    "TRC": "DEBUG",
    "FINE": "DEBUG",
    "FINER": "DEBUG",
    "FINEST": "DEBUG",
    "VERBOSE": "DEBUG",
    "VRB": "DEBUG",
    "SILLY": "DEBUG",
}

# One letter is a level only where a format has a place for it.
LETTERS = {"F": "CRITICAL", "A": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "D": "DEBUG", "V": "DEBUG"}

SYSLOG = ("EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")

_STEPPED = re.compile(r"[+-]\d{1,9}\Z")  # a level between two named ones, as slog writes it

# A value ends the words that describe the event; what follows may be anybody's text.
_BEFORE_VALUE = re.compile(r"[^\d\"'=<{]*")
_WORDS = re.compile(
    r"\b(?:(panic|fatal|emergency)|(error|failed|failure|exception|denied|refused|segfault)"
    r"|(warn|warning|deprecated|timeout))\b",
    re.IGNORECASE,
)
_BY_GROUP = ("", "CRITICAL", "ERROR", "WARNING")


def by_name(name: object) -> str:
    """Return the severity a level name stands for in any case, "" for no level name."""
    if not isinstance(name, str):
        return ""
    name = name.strip().upper()
    return NAMES.get(name, "") or (NAMES.get(_STEPPED.sub("", name), "") if name[-1:].isdigit() else "")


def by_number(number: float) -> str:
    """Return the severity of a numeric level: syslog 0-7, 10-60 of JSON loggers, 100-600 of Monolog."""
    if number < 0:
        return ""
    if number <= 7:
        return SYSLOG[int(number)]
    if number < 100:
        for limit, name in ((30, "DEBUG"), (40, "INFO"), (50, "WARNING"), (60, "ERROR")):
            if number < limit:
                return name
        return "CRITICAL"
    for limit, name in ((200, "DEBUG"), (250, "INFO"), (300, "NOTICE"), (400, "WARNING"), (500, "ERROR")):
        if number < limit:
            return name
    return "CRITICAL" if number < 550 else "ALERT" if number < 600 else "EMERGENCY"


def by_level(level: object) -> str:
    """Return the severity of a level as loggers send it, a name or a number; "" for anything else."""
    if isinstance(level, int | float) and not isinstance(level, bool):
        return by_number(level)
    return by_name(level)


def by_words(message: str) -> str:
    """Guess the severity from the whole words before the first value of a message, "" when none speaks of it."""
    words = _BEFORE_VALUE.match(message, 0, 1000)
    worst = 4
    for found in _WORDS.finditer(words.group() if words else ""):
        worst = min(worst, found.lastindex or 4)
    return _BY_GROUP[worst] if worst < 4 else ""
