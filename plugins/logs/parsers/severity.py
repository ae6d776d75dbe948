"""The levels of other people's loggers: their words, letters, numbers and marks.

The words come from the documentation of the loggers that are named beside them, those of other languages from the
translations that the JDK and common desktop programs ship.
"""

import re
from typing import Final

NAMES: Final = {
    # syslog, RFC 5424
    "EMERGENCY": "EMERGENCY", "EMERG": "EMERGENCY", "EMRG": "EMERGENCY",
    "ALERT": "ALERT", "ALRT": "ALERT",
    "CRITICAL": "CRITICAL", "CRIT": "CRITICAL", "CRT": "CRITICAL",
    "ERROR": "ERROR", "ERR": "ERROR",
    "WARNING": "WARNING", "WARN": "WARNING",
    "NOTICE": "NOTICE", "NOTE": "INFO",
    "INFORMATIONAL": "INFO", "INFO": "INFO",
    "DEBUG": "DEBUG",
    # cut to three or four letters: Serilog, logrus, zerolog, slog handlers, the .NET console
    "FTL": "CRITICAL", "FATA": "CRITICAL", "PANI": "CRITICAL", "PNC": "CRITICAL",
    "ERRO": "ERROR", "EROR": "ERROR", "FAIL": "ERROR",
    "WRN": "WARNING", "NTC": "NOTICE",
    "INF": "INFO", "INFORMATION": "INFO",
    "DBG": "DEBUG", "DEBU": "DEBUG", "DEBG": "DEBUG", "DBUG": "DEBUG",
    "TRC": "DEBUG", "TRAC": "DEBUG", "TRCE": "DEBUG", "VRB": "DEBUG", "VERB": "DEBUG", "SILL": "DEBUG",
    # log4j, JUL, zap, PostgreSQL, npm, loguru, MySQL
    "FATAL": "CRITICAL", "PANIC": "CRITICAL", "DPANIC": "CRITICAL",
    "SEVERE": "ERROR", "EXCEPTION": "ERROR", "FAILURE": "ERROR",
    "SUCCESS": "INFO", "LOG": "INFO", "SYSTEM": "INFO", "AUDIT": "INFO", "STATUS": "INFO",
    "CONFIG": "DEBUG", "TRACE": "DEBUG", "FINE": "DEBUG", "FINER": "DEBUG", "FINEST": "DEBUG",
    "VERBOSE": "DEBUG", "SILLY": "DEBUG", "DEFAULT": "INFO", "FAULT": "CRITICAL",
    # German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Turkish, Czech
    "SCHWERWIEGEND": "ERROR", "FEHLER": "ERROR", "WARNUNG": "WARNING", "HINWEIS": "NOTICE", "KONFIGURATION": "DEBUG",
    "FEIN": "DEBUG", "FEINER": "DEBUG", "GRAVE": "ERROR", "ERREUR": "ERROR", "AVERTISSEMENT": "WARNING",
    "INFOS": "INFO", "FINESSE": "DEBUG", "ADVERTENCIA": "WARNING", "INFORMACIÓN": "INFO", "ERRORE": "ERROR",
    "AVVERTENZA": "WARNING", "AVVISO": "WARNING", "INFORMAZIONI": "INFO", "AVISO": "WARNING", "ADVERTÊNCIA": "WARNING",
    "INFORMAÇÕES": "INFO", "FOUT": "ERROR", "WAARSCHUWING": "WARNING", "BŁĄD": "ERROR", "POWAŻNE": "ERROR",
    "OSTRZEŻENIE": "WARNING", "INFORMACJE": "INFO", "ALLVARLIG": "ERROR", "FEL": "ERROR", "VARNING": "WARNING",
    "HATA": "ERROR", "UYARI": "WARNING", "BİLGİ": "INFO", "CHYBA": "ERROR", "VAROVÁNÍ": "WARNING",
    # Russian, Ukrainian, Chinese, Japanese, Korean
    "ОШИБКА": "ERROR", "ПРЕДУПРЕЖДЕНИЕ": "WARNING", "ИНФОРМАЦИЯ": "INFO", "ПОМИЛКА": "ERROR",
    "严重": "ERROR", "错误": "ERROR", "錯誤": "ERROR", "警告": "WARNING", "信息": "INFO", "資訊": "INFO",
    "重大": "ERROR", "エラー": "ERROR", "情報": "INFO", "심각": "ERROR", "오류": "ERROR", "경고": "WARNING",
    "정보": "INFO",
}  # fmt: skip

# A letter is a level only where a format has a place for it: glog, Android, Ruby, MongoDB.
LETTERS: Final = {
    "F": "CRITICAL", "A": "CRITICAL", "C": "CRITICAL", "E": "ERROR", "W": "WARNING", "N": "NOTICE", "I": "INFO",
    "D": "DEBUG", "V": "DEBUG", "T": "DEBUG",
}  # fmt: skip

# In brackets: display servers and what is built on them.
DOUBLED: Final = {"EE": "ERROR", "WW": "WARNING", "II": "INFO", "DD": "DEBUG"}

# Words that loggers write as a level, and other people as the name of a thing: `LOG`, `SYSTEM`. They are levels where
# a line of the same file has a plainer one at the same place, not by themselves.
VAGUE: Final = frozenset(
    (
        "LOG", "SYSTEM", "AUDIT", "STATUS", "SUCCESS", "CONFIG", "DEFAULT", "FAULT", "EXCEPTION", "FAILURE", "FINE",
        "NOTE", "FAIL", "FEL", "FEIN", "GRAVE",
    )
)  # fmt: skip

SYSLOG: Final = ("EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")

# `daemon.err`: how syslog daemons write facility and level as text.
FACILITY_LEVEL: Final = re.compile(
    r"(?:kern|user|mail|daemon|auth|authpriv|syslog|lpr|news|uucp|cron|ftp|local[0-7])\.([a-z]{3,9})"
)

_DIGITS: Final = frozenset("01234567")
_STEPPED = re.compile(r"(?:[+-]\d{1,9}|\d)\Z")  # `WARN+2` of slog, `DEBUG3` of PostgreSQL, `ERROR2` of OpenTelemetry


def by_name(name: object) -> str:
    """Return the severity a level name stands for in any case, "" for no level name."""
    if not isinstance(name, str):
        return ""
    name = name.strip().upper().removeprefix("LOG_")
    if name[:3] == "LOG" and name[3:] in _DIGITS:
        return SYSLOG[int(name[3:])]  # `LOG3`, `LOG_ERR`: the constants of syslog
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
