"""Lines without a time that begin with their level."""

import re

from snaglist.plugins.logs.parsers.heads import MNEMONIC, Head
from snaglist.plugins.logs.parsers.severity import DOUBLED, LETTERS, NAMES, SYSLOG, by_name

_PREFIX = re.compile(
    r"(?:-(?P<dashes>[EWIFD])- |\((?P<xorg>EE|WW|II|DD|NI|\?\?|!!|\*\*|--|==|\+\+)\) "
    r"|(?P<chip>[VDIWEF]) \(\d{1,10}\) (?=[\w.:-]{1,60}:)"
    r"|[\[(<] ?(?P<bracket>[^\W\d_]{1,13}!?)\d?(?: {0,8})[\])>][ :-]{0,4}"
    r"|(?P<android>[VDIWEFA])/(?=[\w.$-]{1,100}[( :])"
    r"|(?:PHP )?(?P<php>Fatal error|Parse error|Warning|Notice|Deprecated): {1,4}"
    r"|npm (?P<npm>ERR!|error|WARN|warn|info|notice|verb|http|sill|timing) "
    r"|(?P<letter>[EWNF]): (?=[A-Z])"
    r"|(?P<level>[^\W\d_]{3,14}\d?)(?P<code>\[[\w:-]{1,60}\]| [A-Z]{1,5}\d{2,5})?(?P<sign>: ?| - |\s{1,8}))"
)
# What compilers, linters and tools print: a place in a source file or the name of the tool, then the level.
_TOOL = re.compile(
    r"(?: {0,12}\d{1,4}>)?(?:[A-Za-z]:(?=[\\/]))?[^\s:()]{1,300}"
    r"(?::(?:\d{1,7}|None)(?::\d{1,7}|-\d{1,7})?|\(\d{1,7}(?:,\d{1,7}){0,3}\))? ?: {1,2}"
    r"(?P<level>(?:fatal )?error|warning|note|FATAL|ERROR|WARNING|WARN|INFO|DEBUG|NOTICE)(?: [A-Z]{1,5}\d{2,5})?: "
)
_PYTHON_LOGGER = re.compile(r"[A-Za-z_][\w.]{0,100}:(?=\S)")
_PHP = {"Fatal error": "CRITICAL", "Parse error": "ERROR", "Deprecated": "WARNING"}
_NPM = {"ERR!": "ERROR", "error": "ERROR", "WARN": "WARNING", "warn": "WARNING", "notice": "NOTICE", "info": "INFO"}


def plain(line: str) -> Head:
    """Read a line without a time: a level at its beginning, or nothing but text."""
    if line.startswith(("panic: ", "fatal error: ")):
        return Head("", "", "CRITICAL", line, spelled=line.partition(":")[0])
    if line[:1] == "%" and (device := MNEMONIC.match(line)):
        return Head("", "", SYSLOG[int(device[1])], line, spelled=device[1])
    found = _PREFIX.match(line)
    if found is None or (found["code"] and not found["sign"].startswith(":")):
        return _of_tool(line)
    rest = line[found.end() :]
    word = found["level"]
    if word:
        return _worded(line, word, found["sign"], rest)
    if found["php"]:
        return Head("", "", _PHP.get(found["php"]) or NAMES[found["php"].upper()], line, spelled=found["php"])
    if found["npm"]:
        npm = found["npm"]
        # A report of a failure has many lines, all with the same beginning.
        return Head("", "", _NPM.get(npm, "DEBUG"), rest, spelled=npm, by_line=npm in ("ERR!", "error"))
    if found["xorg"]:
        return Head("", "", DOUBLED.get(found["xorg"], "INFO"), rest, spelled=found["xorg"])
    letter = found["dashes"] or found["letter"] or found["android"] or found["chip"]
    if not letter and found["bracket"] in LETTERS:
        letter = found["bracket"]
    if letter:
        return Head("", "", LETTERS[letter], rest, spelled=letter)
    severity = by_name(found["bracket"])
    return Head("", "", severity, rest, spelled=found["bracket"]) if severity else _of_tool(line)


def _worded(line: str, word: str, sign: str, rest: str) -> Head:
    """Read a line that begins with a word, which may be a level."""
    severity = by_name(word)
    if not severity:
        return _of_tool(line)
    if word.isupper():
        logger = _PYTHON_LOGGER.match(rest) if sign == ":" else None
        return Head("", "", severity, rest[logger.end() :] if logger else rest, spelled=word)
    # "error: x" names a level; "Error: x" may be a class, and "Log in failed" is a sentence.
    return Head("", "", severity if sign.startswith(":") else "", line, spelled=word)


def _of_tool(line: str) -> Head:
    tool = _TOOL.match(line) if ": " in line[:400] else None
    level = tool["level"].removeprefix("fatal ") if tool else ""
    return Head("", "", by_name(level), line, spelled=level)


def begins_with_level(line: str) -> bool:
    """Tell whether a line begins with a level that is set off from the message."""
    found = _PREFIX.match(line)
    if found is None or found["php"]:
        return False
    word = found["level"]
    if word is None:
        return bool(plain(line).severity)
    return bool(by_name(word)) and (word.isupper() or found["sign"].startswith(":"))
