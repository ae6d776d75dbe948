"""Exact headers of single programs and libraries, which no grammar of times and levels finds.

Each is one format and stands here by name: glog, Chromium, GlassFish, SSSD, Ruby's Logger, Redis, queue workers of
Laravel, reports of Erlang, the console of .NET, the audit log of Linux, Zabbix, the history of a shell. Such a header
is read wherever it stands, also in a file of another format.
"""

import re

from snaglist.plugins.logs.parsers.heads import Head
from snaglist.plugins.logs.parsers.severity import LETTERS, by_name
from snaglist.plugins.logs.parsers.stamps import find_stamp

_GLOG = re.compile(
    r"(?P<letter>[EWIFDC])(?P<day>\d{4}|\d{8}) {1,2}(?P<clock>\d\d:\d\d:\d\d)(?:\.\d{1,9})? {1,8}(?:\d{1,20} {1,8})?"
    r"[^\s\]]{1,200}:\d{1,7}\] ?",
    re.ASCII,
)
# Chromium and what is built with it: process and thread where they are known, month and day, clock, level, place.
_CHROMIUM = re.compile(
    r"\[(?:\d{1,10}:){0,2}(?P<day>\d{4})/(?P<clock>\d{6})(?:\.\d{1,9})?:(?P<level>[A-Z]{3,9}\d?):[^\]\s]{1,300}\] ?",
    re.ASCII,
)
# GlassFish: time, level, product, logger and pairs between bars, then the message, all within `[#|` and `|#]`.
_GLASSFISH = re.compile(
    r"\[#\|(?P<stamp>[^|]{10,40})\|(?P<level>[A-Z]{3,13})\|[^|]{0,100}\|(?P<logger>[^|]{0,200})\|[^|]{0,500}\|",
    re.ASCII,
)
# SSSD: the level is a mask; its manual tells what the bits mean.
_SSSD = re.compile(
    r"\((?P<stamp>[^()]{19,40})\):? \[(?P<domain>[^\s]{1,80})\] \[[^\]]{1,80}\] \((?P<mask>0x[0-9a-f]{4})\): ?",
    re.ASCII,
)
_MASKS = ((0x0030, "CRITICAL"), (0x0040, "ERROR"), (0x0080, "WARNING"), (0x0700, "INFO"))
_RUBY = re.compile(
    r"[A-Z], \[(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?) #\d{1,9}\] {1,3}"
    r"(?P<level>[A-Z]{3,7}) -- [^:\n]{0,100}: ?(?P<tags>(?:\[[^\[\]\s][^\[\]]{0,80}\] ?){0,6})",
    re.ASCII,
)
_REDIS = re.compile(
    r"\d{1,9}:[MSCX] (?P<stamp>\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?:\.\d{1,9})?) (?P<mark>[-.*#]) ", re.ASCII
)
_MARKS = {".": "DEBUG", "-": "INFO", "*": "NOTICE", "#": "WARNING"}
# How queue workers show a job that takes its time: name, dots, what came of it.
_PROGRESS = re.compile(
    r" {2}(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<job>\S{1,300}) \.{3,500} "
    r"(?:(?P<took>\d[\d.]{0,20}\w{0,3}(?: \d{1,3}\w{1,3}){0,2}) )?(?P<outcome>RUNNING|DONE|FAIL)\s*$",
    re.ASCII,
)
_JOB_ID = re.compile(r"\[[\w-]{1,80}\] (?=(?:Processing|Processed|Failed|Released): )")
# Reports of Erlang: the level and the time on a line of their own, the report below.
_REPORT = re.compile(r"=(?P<level>[A-Z]{3,12}) (?:REPORT|MESSAGE)==== {1,2}(?P<stamp>[^=\n]{10,60}?)(?: UTC)? ===\s*$")
_REPORTS = {"CRASH": "ERROR", "SUPERVISOR": "ERROR", "PROGRESS": "INFO"}
# The console of .NET: level and category, the message indented below.
_DOTNET = re.compile(r"(?P<level>trce|dbug|info|warn|fail|crit): (?P<category>[\w.+`<>\[\],-]{1,200})\[-?\d{1,9}\]\s*$")
# The audit log of Linux, and its records elsewhere.
_AUDIT = re.compile(
    r"(?:node=\S{1,200} )?type=[A-Z0-9_\[\]]{2,60} msg=audit\((?P<stamp>\d{9,11}\.\d{1,3}):\d{1,12}\): ?"
)
# Zabbix: process, date and clock.
_ZABBIX = re.compile(r" {0,6}\d{1,8}:(?P<stamp>\d{8}:\d{6})(?:\.\d{1,3})? ")
# The history of a shell: the time on a line of its own.
_HISTORY = re.compile(r"#\+?(?P<stamp>1\d{9})\s*$")


def special_head(line: str) -> Head | None:
    """Read a header of one of these forms."""
    first = line[:1]
    if first == " ":
        return _progress(line) if line.startswith("  2") else _zabbix(line)
    if first == "#":
        history = _HISTORY.match(line)
        return Head("epoch", history["stamp"], "", "") if history else None
    if line[:5] in ("type=", "node=") and (audit := _AUDIT.match(line)):
        return Head("epoch", audit["stamp"], "", line)
    if first == "=":
        return _report(line)
    if first == "[":
        return _chromium(line) if line[1:2].isdigit() else _glassfish(line) if line[1:3] == "#|" else None
    if first == "(":
        return _sssd(line) if ") [" in line[:60] or "): [" in line[:60] else None
    if line[1:2].isdigit() and first.isupper():
        return _glog(line)
    if line[1:4] == ", [":
        return _ruby(line)
    if first.isdigit():
        if line.find(":", 0, 10) < 0:
            return None
        if (zabbix := _zabbix(line)) is not None:
            return zabbix
        found = _REDIS.match(line)
        return Head("named", found["stamp"], _MARKS[found["mark"]], line[found.end() :]) if found else None
    if line[4:6] == ": " and (found := _DOTNET.match(line)):
        return Head("", "", by_name(found["level"]), "", channel=found["category"], spelled=found["level"])
    return None


def job_head(line: str, form: str, stamp: str, start: int) -> Head | None:
    """Read what a queue worker says of a job: its id in brackets, and what became of it."""
    job = _JOB_ID.match(line, start)
    if job is None:
        return None
    return Head(form, stamp, "ERROR" if line.startswith("Failed", job.end()) else "INFO", line[job.end() :])


def _zabbix(line: str) -> Head | None:
    found = _ZABBIX.match(line)
    return Head("compact", found["stamp"], "", line[found.end() :]) if found else None


def _glog(line: str) -> Head | None:
    found = _GLOG.match(line)
    if found is None:
        return None
    letter, day, clock = found["letter"], found["day"], found["clock"]
    form = "month_day_compact" if len(day) == 4 else "compact"
    stamp = f"{day} {clock if len(day) == 4 else clock.replace(':', '')}"
    return Head(form, stamp, LETTERS[letter], line[found.end() :], spelled=letter)


def _chromium(line: str) -> Head | None:
    found = _CHROMIUM.match(line)
    severity = by_name(found["level"]) if found else ""
    if found is None or not severity:
        return None
    clock = found["clock"]
    stamp = f"{found['day']} {clock[:2]}:{clock[2:4]}:{clock[4:]}"
    return Head("month_day_compact", stamp, severity, line[found.end() :], spelled=found["level"])


def _glassfish(line: str) -> Head | None:
    found = _GLASSFISH.match(line)
    stamp = find_stamp(found["stamp"]) if found else None
    if found is None or stamp is None:
        return None
    message = line[found.end() :].removesuffix("|#]")
    return Head(stamp[0], stamp[1], by_name(found["level"]), message, channel=found["logger"], spelled=found["level"])


def _sssd(line: str) -> Head | None:
    found = _SSSD.match(line)
    stamp = find_stamp(found["stamp"]) if found else None
    if found is None or stamp is None:
        return None
    mask = int(found["mask"], 16)
    level = next((name for bits, name in _MASKS if mask & bits), "DEBUG")
    return Head(stamp[0], stamp[1], level, line[found.end() :], channel=found["domain"], spelled=found["mask"])


def _ruby(line: str) -> Head | None:
    found = _RUBY.match(line)
    if found is None:
        return None
    tags = found["tags"].strip()
    severity = by_name(found["level"]) or "INFO"
    message = line[found.end() :]
    return Head("iso", found["stamp"], severity, message, "", tags, tags, found["level"], by_line=True)


def _progress(line: str) -> Head | None:
    found = _PROGRESS.match(line)
    if found is None:
        return None
    said = " ".join(part for part in (found["job"], found["took"], found["outcome"]) if part)
    return Head("iso", found["stamp"], "ERROR" if found["outcome"] == "FAIL" else "INFO", said)


def _report(line: str) -> Head | None:
    found = _REPORT.match(line)
    stamp = find_stamp(found["stamp"]) if found else None
    if found is None or stamp is None:
        return None
    level = found["level"]
    return Head(stamp[0], stamp[1], _REPORTS.get(level) or by_name(level), "", spelled=level)
