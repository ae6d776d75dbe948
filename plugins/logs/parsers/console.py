"""Everything else: time and level headers of any usual form, plain lines, crashes of runtimes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from snaglist.plugins.issues import RANK, Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_body
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.severity import LETTERS, NAMES
from snaglist.plugins.logs.parsers.stamps import SORTABLE, find_stamp
from snaglist.plugins.logs.parsers.traces import follow

MAX_TOKENS = 7
_SEPARATORS = " \t|-:>,"
_CLOSERS = {"[": "]", "(": ")", "<": ">"}
_WORD = re.compile(r"[^\s\[\]()<>|]{1,150}")
_NAME = re.compile(r"[A-Za-z_][\w.$:/#@*-]{0,150}")
_PUNCTUATED = re.compile(r"[.:/$#@]")
_LOGGER = re.compile(r"[A-Za-z_][\w$-]{0,80}(?:(?:\.|::|/|\$)[\w$-]{1,80}){1,12}(?:@\d{1,6}|:\d{1,6})?(?: ?: | - )")
_SPRING = re.compile(r"\d{1,9} --- ")
# Application, thread and correlation, then the logger padded to a width.
_SPRING_LOGGER = re.compile(r"(?:\[[^\[\]]{0,200}\] ?){1,3} ?[\w.$/\[\]-]{1,200} {0,80}: ")
_SPECIAL = re.compile(
    r"(?:(?P<glog>[EWIF])(?P<day>\d{4}|\d{8}) (?P<clock>\d\d:\d\d:\d\d)(?:\.\d{1,9})? {1,8}\d{1,9} "
    r"\S{1,200}:\d{1,7}\] ?"
    r"|[A-Z], \[(?P<ruby>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?) #\d{1,9}\] {1,3}"
    r"(?P<level>[A-Z]{4,6}) -- [^:\n]{0,100}: ?"
    r"|\d{1,9}:[MSCX] (?P<redis>\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?:\.\d{1,9})?) (?P<mark>[-.*#]) )",
    re.ASCII,
)
# How queue workers show a job that takes its time: name, dots, what came of it.
_PROGRESS = re.compile(
    r" {2}(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<job>\S{1,300}) \.{3,500} "
    r"(?:(?P<took>\d[\d.]{0,20}\w{0,3}(?: \d{1,3}\w{1,3}){0,2}) )?(?P<outcome>RUNNING|DONE|FAIL)\s*$",
    re.ASCII,
)
_JOB_ID = re.compile(r"\[[\w-]{1,80}\] (?=(?:Processing|Processed|Failed|Released): )")
_MARKS = {".": "DEBUG", "-": "INFO", "*": "NOTICE", "#": "WARNING"}
_CALLER = re.compile(r"\S{1,200}:\d{1,7}$")
_PREFIX = re.compile(
    r"(?:\[(?P<bracket>[A-Za-z]{1,11})\][ :-]{0,4}"
    r"|(?:PHP )?(?P<php>Fatal error|Parse error|Warning|Notice|Deprecated): {1,4}"
    r"|(?P<level>[A-Za-z]{3,11})(?P<sign>: ?| - |\s{1,8}))"
)
_PYTHON_LOGGER = re.compile(r"[A-Za-z_][\w.]{0,100}:(?=\S)")
_PHP = {"Fatal error": "CRITICAL", "Parse error": "ERROR", "Deprecated": "WARNING"}
_DETAILS = re.compile(r"[^\n]{0,60}\b(?:DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION): {1,4}")
# What runtimes print when they die is no part of the line a logger wrote before.
_CRASH = re.compile(
    r"panic: |fatal error: |FATAL ERROR: |Exception in thread \"|Unhandled exception[.:]"
    r"|terminate called after throwing |==\d{1,9}==(?:ERROR|WARNING): "
    r"|thread '[^']{0,200}' (?:\(\d{1,20}\) )?panicked at "
    r"|(?:PHP )?(?:Fatal error|Parse error|Warning|Notice|Deprecated): {1,2}\S"
)
_TRACEBACK = "Traceback (most recent call last):"


@dataclass(slots=True)
class Head:
    """What a line says: the form and text of its time, the severity, and the message."""

    form: str
    stamp: str
    severity: str
    message: str


class Console(Parser):
    """The floor: any text is a console log.

    `plain` opens entries by lines without a header: in files that have none, after crashes, before the
    first header. In a file whose headers have a level, a line with a time only opens an entry when the
    time has the same form and is not earlier, because a table row in a message begins with a date too.
    """

    log_type = "console"

    def __init__(self) -> None:
        self._headed = False
        self._forms: frozenset[str] = frozenset()  # of the headers with a level
        self._last = ""

    def fresh(self) -> Self:
        """Return a parser with the state of one file."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Learn whether the file has headers, and of which form those with a level are."""
        heads = [head for head in map(read_head, lines) if head is not None]
        loose = sum(1 for line in lines if not follow.continues(line))
        self._headed = bool(heads) and (loose < 200 or len(heads) * 50 >= loose)
        self._forms = frozenset(head.form for head in heads if head.severity)
        self._last = ""

    def header(self, line: str) -> Head | None:
        """Read a time and, in most files, a level."""
        head = read_head(line)
        if head is None:
            return None
        if head.severity:
            self._last = head.stamp
        elif _DETAILS.match(head.message) or self._is_row(head):
            return None
        return head

    def _is_row(self, head: Head) -> bool:
        """Tell whether a time without a level belongs to the text of an entry."""
        if not self._forms:
            return False
        return head.form not in self._forms or (head.form in SORTABLE and head.stamp < self._last)

    def foreign(self, line: str) -> Head | None:
        """Require time and level."""
        head = read_head(line)
        return head if head is not None and head.severity else None

    def opens(self, line: str, severity: str, state: str) -> bool:
        """Tell whether a line without a header opens an entry after one of that severity and trace state."""
        if not self._headed and line.startswith(_TRACEBACK):
            return state != "" or not severity or RANK[severity] > RANK["ERROR"]
        if not self._headed or _CRASH.match(line) is not None or follow.is_node_crash(line):
            return True
        quiet = bool(severity) and RANK[severity] > RANK["WARNING"]
        return quiet and not state and line.startswith(_TRACEBACK)

    def event(self, header: Head, lines: Sequence[str], clock: Clock) -> Event:
        """Split message, trace and context."""
        time = clock.read(header.form, header.stamp) if header.form else ""
        body = split_body(header.message, lines)
        severity = header.severity
        if not severity and header.form:
            severity = plain(header.message).severity
        if body.severity and (not severity or RANK[body.severity] < RANK[severity]):
            severity = body.severity
        crashed = len(lines) > 2 and follow.is_node_crash(header.message)
        level_source = ""
        if not severity and (body.exceptions or body.stack or crashed):
            severity, level_source = "ERROR", "trace"
        return Event(
            body.message,
            severity=severity,
            level_source=level_source,
            occurred_at=time,
            exceptions=body.exceptions,
            stack=body.stack,
            context=body.context,
        )


def plain(line: str) -> Head:
    """Read a line without a time: a level at its beginning, or nothing but text."""
    if line.startswith(("panic: ", "fatal error: ")):
        return Head("", "", "CRITICAL", line)
    found = _PREFIX.match(line)
    if found is None:
        return Head("", "", "", line)
    if found["php"]:
        return Head("", "", _PHP.get(found["php"]) or NAMES[found["php"].upper()], line)
    word = found["bracket"] or found["level"]
    severity = NAMES.get(word.upper(), "")
    if not severity:
        return Head("", "", "", line)
    if found["bracket"] or word.isupper():
        message = line[found.end() :]
        logger = _PYTHON_LOGGER.match(message) if found["sign"] == ":" else None
        return Head("", "", severity, message[logger.end() :] if logger else message)
    # "error: x" names a level; "Error: x" may be a class, and "Log in failed" is a sentence.
    return Head("", "", severity if found["sign"].startswith(":") else "", line)


def read_head(line: str) -> Head | None:
    """Read the time that a line begins with, and a level behind it; the severity is "" without a level."""
    stamp = find_stamp(line)
    if stamp is None:
        return _progress(line) if line.startswith("  2") else _special(line)
    form, text, start = stamp
    if line[start : start + 1] == "[":
        job = _JOB_ID.match(line, start)
        if job:
            return Head(form, text, "ERROR" if line.startswith("Failed", job.end()) else "INFO", line[job.end() :])
    if line[0] == "[" and line[start - 1] != "]":
        closed = line.find("]", start, start + 150)
        severity = (
            NAMES.get(line[start:closed].strip(" :-").partition(" ")[0].partition("/")[0], "") if closed > 0 else ""
        )
        if severity:
            return Head(form, text, severity, line[closed + 1 :].lstrip())
    severity, end = _find_level(line, start)
    if severity:
        return Head(form, text, severity, _message(line, end))
    return Head(form, text, "", line[end:].strip(" \t-|:") if end != start else line[start:].lstrip(" \t-|:]"))


def _progress(line: str) -> Head | None:
    found = _PROGRESS.match(line)
    if found is None:
        return None
    said = " ".join(part for part in (found["job"], found["took"], found["outcome"]) if part)
    return Head("iso", found["stamp"], "ERROR" if found["outcome"] == "FAIL" else "INFO", said)


def _special(line: str) -> Head | None:
    """Read headers that begin with something else than the time."""
    found = _SPECIAL.match(line) if line[1:2].isdigit() or line[1:4] == ", [" or line[:1].isdigit() else None
    if found is None:
        return None
    message = line[found.end() :]
    if found["glog"]:
        day = found["day"]
        form = "month_day_compact" if len(day) == 4 else "compact"
        clock = found["clock"] if len(day) == 4 else found["clock"].replace(":", "")
        return Head(form, f"{day} {clock}", LETTERS[found["glog"]], message)
    if found["ruby"]:
        return Head("iso", found["ruby"], NAMES.get(found["level"], "INFO"), message)
    return Head("named", found["redis"], _MARKS[found["mark"]], message)


def _find_level(line: str, start: int) -> tuple[str, int]:
    """Return the severity and the place behind the level; without one "" and the place behind what is no message.

    Before the level may stand brackets (thread, process), numbers, and names that are set off by a
    separator. A plain word that is no level ends the search: what follows is a sentence.
    """
    position = start
    length = len(line)
    decorated = False
    for _ in range(MAX_TOKENS):
        while position < length and line[position] in _SEPARATORS:
            position += 1
        if position >= length:
            break
        closer = _CLOSERS.get(line[position])
        if closer is not None:
            end = _closing(line, position, closer)
            if end < 0:
                break
            inner = line[position + 1 : end].strip()
            severity = NAMES.get(inner.upper(), "") or (LETTERS.get(inner, "") if len(inner) == 1 else "")
            position = end + 1
            if severity:
                return severity, position
            decorated = True
            continue
        found = _WORD.match(line, position)
        if found is None:
            break
        word = found.group()
        end = found.end()
        name = word.rstrip(":,")
        severity = NAMES.get(name, "")
        if severity:
            return severity, end
        upper = NAMES.get(name.upper(), "")
        if upper and position > start:
            # A lower-case level stands right behind the time, or is set off by a colon or a bar.
            if word != name or line[end : end + 2] in (" |", "\t"):
                return upper, end
            if name.islower() and not decorated:
                return upper, position
        if len(name) == 1 and decorated and name in LETTERS and line[end : end + 1].isspace():
            return LETTERS[name], end
        if not (name.isdigit() or (len(name) >= 8 and _is_hex(name)) or _is_set_off(line, name, end)):
            break
        decorated = True
        position = end
    return "", start


def _is_hex(word: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in word)


def _is_set_off(line: str, name: str, end: int) -> bool:
    """Tell whether a word is a name before the level: `shop.api`, `name - `, `name | `, and a level follows."""
    if not _NAME.fullmatch(name):
        return False
    following_text = line[end : end + 60]
    rest = following_text.lstrip(_SEPARATORS)
    between = following_text[: len(following_text) - len(rest)]
    if len(between) < 2 and between != "\t" and not _PUNCTUATED.search(name):
        return False  # a word and a level in a sentence
    following = _WORD.match(rest[1:] if rest[:1] in ("[", "<", "(") else rest)
    word = following.group() if following else ""
    level = word.rstrip(":,")
    return level in NAMES or (len(level) == 1 and level in LETTERS)


def _closing(line: str, position: int, closer: str) -> int:
    """Return the place of the bracket that closes the one at the position, at most 300 characters on."""
    opener = line[position]
    depth = 0
    for place in range(position, min(len(line), position + 300)):
        character = line[place]
        if character == opener:
            depth += 1
        elif character == closer:
            depth -= 1
            if not depth:
                return place
    return -1


def _message(line: str, start: int) -> str:
    """Return the message behind the level, without thread, logger name and caller."""
    if line[start : start + 1] == "\t":
        return _tabbed(line[start + 1 :])
    rest = line[start:].lstrip(" \t:-|]>")
    spring = _SPRING.match(rest)
    if spring:
        rest = rest[spring.end() :]
        named = _SPRING_LOGGER.match(rest)
        if named:
            return rest[named.end() :]
    if rest[:1] == "[":
        # A bracket is the thread when a logger name or a separator follows, else it belongs to the message.
        end = _closing(rest, 0, "]")
        after = rest[end + 1 :].lstrip() if end > 0 else ""
        if after.startswith(("- ", ": ", "| ")):
            return after[2:].lstrip()
        logger = _LOGGER.match(after)
        if logger:
            return after[logger.end() :].lstrip()
        if after and _is_short_logger(after):
            return after
        return rest
    logger = _LOGGER.match(rest)
    return rest[logger.end() :].lstrip(" -") if logger else rest


def _is_short_logger(text: str) -> bool:
    word = text.split(" ", 1)[0]
    return word.endswith(":") and word[:-1].isidentifier()


def _tabbed(text: str) -> str:
    """Return the message of tab-separated columns: logger and caller stand before it."""
    columns = text.split("\t")
    while len(columns) > 1 and (
        _CALLER.match(columns[0]) or (_CALLER.match(columns[1]) and " " not in columns[0] and len(columns) > 2)
    ):
        del columns[0]
    return "\t".join(columns)
