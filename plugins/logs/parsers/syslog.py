"""Syslog lines: RFC 5424, RFC 3164 and its relatives, the shapes of `journalctl`. What is within is parsed again."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Self

from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.clock import month_number
from snaglist.plugins.logs.parsers.severity import SYSLOG, by_name

_MONTH = r"[^\W\d_]{3,5}\.?"  # in the language of the machine
_TIME = r"\d\d:\d\d:\d\d(?:\.\d{1,9})?"
# `Feb  3 07:30:15`, `Feb 3 07:30:15.120`; `Feb 03 2025 07:30:15` of network devices; with a zone; ISO; `short-full`
_NODE = r"(?:(?:[\w.-]{1,60} )?(?:RP|LC)/\d{1,3}/\w{1,6}/\w{1,6}:)?"  # of a router: `RP/0/RSP0/CPU0:`
_OLD = re.compile(
    rf"(?:<(?P<priority>\d{{1,3}})>(?:\d{{1,9}}: )?)?{_NODE}[*.]?"
    rf"(?:(?P<old>{_MONTH} (?: \d|\d{{1,2}}) {_TIME}(?: [A-Z]{{3,4}}(?=:))?)"
    rf"|(?P<year>{_MONTH} (?: \d|\d{{1,2}}) \d{{4}} {_TIME}(?: [A-Z]{{3,4}})?)"
    rf"|(?P<iso>\d{{4}}-\d\d-\d\d[T ]{_TIME}(?:Z|[+-]\d\d:?\d\d)?)"
    rf"|(?P<full>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{{4}}-\d\d-\d\d {_TIME} [A-Z]{{2,5}})) ?:? ",
)
_HOST = re.compile(r"(?P<host>[\w.:%/-]{1,255}(?<!:)) ", re.ASCII)
# `prog[31]: `, `prog 1.2: `; on Apple's systems `prog[31] <Error>: ` and `com.till[1] (com.till.pump[31]): `
_TAG = re.compile(
    r"(?P<tag>[^\s:\[\]]{1,100}(?: \d[\w.]{0,10})?)(?: ?\[(?P<process>[^\]\s]{0,60})\])?"
    r"(?: \([^()\n]{1,100}\))?(?: <(?P<level>[A-Z][a-z]{3,9})>)?: ?"
)
_PRIORITY = re.compile(r"<(\d{1,3})>(?=\S)", re.ASCII)
_ZONED = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_PROCESS = re.compile(r"[\w.-]{1,255} [\w./-]{1,100}\[\d{1,10}\]: ", re.ASCII)
_NEW = re.compile(r"<(\d{1,3})>1 (\S{1,40}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (?=[-\[])")


class Syslog(Parser):
    """Syslog. The channel is the program, the server name the host.

    A line whose program has no process number and whose host no other line names may be a sentence with a colon, and
    one without a program any text behind a date; the hosts of the first lines decide.
    """

    log_type = "syslog"

    def __init__(self) -> None:
        self._hosts: frozenset[str] | None = None

    def fresh(self) -> Self:
        """Return a parser with the state of one file."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Learn the hosts of the file."""
        hosts: Counter[str] = Counter()
        sure: set[str] = set()
        for line in lines:
            time = _OLD.match(line)
            host = _HOST.match(line, time.end()) if time else None
            if time is None or host is None or by_name(host["host"]):
                continue
            hosts[host["host"]] += 1
            tag = _TAG.match(line, host.end())
            if time["priority"] or (tag and (tag["process"] is not None or tag["tag"] == "kernel")):
                sure.add(host["host"])
        total = hosts.total()
        often = {host for host, count in hosts.items() if count >= 2 and count * 10 >= total}
        # Few lines say little: a host and a program are believed then, unless another line shows that they are none.
        self._hosts = frozenset(sure | often) if sure or total > 3 else None

    def header(self, line: str) -> Wrapped | None:
        """Match the priority, time, host and program."""
        if not line or not (line[0].isalnum() or line[0] in "<*."):
            return None
        if line[0] == "<" and (new := _NEW.match(line)):
            return _structured(line, new)
        time = _OLD.match(line)
        if time is None:
            priority = _PRIORITY.match(line)
            return Wrapped(line[priority.end() :], severity=SYSLOG[int(priority[1]) & 7]) if priority else None
        named = time["old"] or time["year"]
        if named and not month_number(named.partition(" ")[0]):
            return None
        start = time.end()
        if time["iso"] and not _ZONED.search(time["iso"]) and not _PROCESS.match(line, start):
            return None  # without a zone, a host and a process any log looks like this
        host = _HOST.match(line, start)
        name = host["host"] if host else ""
        if name and by_name(name):
            return None  # a level stands where the host would be
        tag = _TAG.match(line, host.end()) if host else None
        if tag is None or (tag["process"] is None and not self._is_host(name, time)):
            alone = _TAG.match(line, start)
            if alone and alone["process"] is not None and not by_name(alone["tag"]):
                return _wrapped(line, time, "", alone, alone.end())
            if host is None or time["iso"] or not self._is_known(name, time):
                return None
        if tag is not None and tag["tag"][0] == "%":
            tag = None  # what a network device says begins with its mnemonic
        elif tag is not None and by_name(tag["tag"]):
            if time["iso"] and not self._is_known(name, time):
                return None
            tag = None
        return _wrapped(line, time, name, tag, tag.end() if tag else host.end() if host else start)

    def _is_host(self, name: str, time: re.Match[str]) -> bool:
        """Tell whether a name before a program without a process number is a host."""
        return self._hosts is None or self._is_known(name, time)

    def _is_known(self, name: str, time: re.Match[str]) -> bool:
        return bool(time["priority"]) or (self._hosts is not None and name in self._hosts)


def _wrapped(line: str, time: re.Match[str], host: str, tag: re.Match[str] | None, end: int) -> Wrapped:
    form = "iso" if time["iso"] else "syslog" if time["old"] and time["old"][-1].isdigit() else "written"
    channel = tag["tag"] if tag else ""
    process = (tag["process"] or "") if tag else ""
    if process and not process.isdigit() and not host:
        channel = f"{channel}[{process}]"  # a platform's router: `app[web.1]`
    text = line[end:]
    return Wrapped(
        text="\t" + text[4:] if text.startswith("#011") else text,
        stamp=(form, time["iso"] or time["old"] or time["year"] or time["full"]),
        key=f"{host} {tag.group()}" if tag else host,
        severity=_severity(time, tag),
        channel=channel,
        server_name=host or None,
    )


def _severity(time: re.Match[str], tag: re.Match[str] | None) -> str:
    if time["priority"]:
        return SYSLOG[int(time["priority"]) & 7]
    return by_name(tag["level"]) if tag and tag["level"] else ""


def _structured(line: str, found: re.Match[str]) -> Wrapped:
    priority, time, host, program, process, _ = found.groups()
    rest = line[found.end() :]
    data = ""
    if rest.startswith("["):
        end = _structured_end(rest)
        data, rest = rest[:end], rest[end:]
    else:
        rest = rest[1:]
    return Wrapped(
        text=rest.lstrip(" ").removeprefix("\ufeff"),
        stamp=("iso", time) if time != "-" else ("", ""),
        key=f"{host} {program} {process}",
        severity=SYSLOG[int(priority) & 7],
        channel="" if program == "-" else program,
        server_name=None if host == "-" else host,
        context=data,
    )


def _structured_end(text: str) -> int:
    """Return the end of the structured data: elements in brackets, with quoted values that may hold brackets."""
    quoted = escaped = False
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "]" and not quoted and text[place + 1 : place + 2] != "[":
            return place + 1
    return len(text)
