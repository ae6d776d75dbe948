"""What one line says in front of its message: a time, a level, and the names, numbers and pairs around them.

The grammar of a single line. It knows no format: it walks over the first words and brackets of a line and tells what
each of them is. What the other lines of the file tell (`Layout`) decides where one line alone can not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from snaglist.plugins.logs.parsers.messages import closing, message_of
from snaglist.plugins.logs.parsers.severity import DOUBLED, FACILITY_LEVEL, LETTERS, NAMES, SYSLOG, VAGUE, by_name
from snaglist.plugins.logs.parsers.stamps import find_stamp

MAX_TOKENS: Final = 9
_TIME_WITHIN: Final = 120  # characters from the beginning of a line

_CLOSERS = {"[": "]", "(": ")", "<": ">", "{": "}"}
_SEPARATORS: Final = " \t|-:>,;*)]"
_PAIR_FORM = (
    r"[A-Za-z_][\w.@-]{0,60}=(?:\"(?:[^\"\\\n]|\\.){0,500}\"|'[^'\n]{0,500}'|[^\s|\"',;]{0,300})"  # `key=value`
)
_PAIR = re.compile(_PAIR_FORM)
_WORD = re.compile(r"[^\s\[\](){}<>|,;\"]{1,150}")
# Behind separators an opening bracket, a pair, or a word.
_TOKEN = re.compile(r"[ \t|\-:>,;*)\]}\"]*+(?:([\[({<])|(" + _PAIR_FORM + r")|([^\s\[\](){}<>|,;\"]{1,150}))")
_PADDED = frozenset((" :", "  "))
_BAR, _OPENING, _PADDING = frozenset('|\t;"'), frozenset("[("), frozenset(("  ", " -", " ("))
_PADDED_NAME = re.compile(r"\S{1,60} {1,30}: ")  # of Android: `Shop    : text`
_NAMED = re.compile(r"[\d._/:@#$%~+*-]")  # what a name has and a word of a sentence has not
_LEVEL_KEYS: Final = frozenset(
    ("level", "lvl", "ll", "severity", "sev", "loglevel", "log_level", "priority", "levelname")
)
_PIECES = re.compile(r"[\s:/|,@]+")
_MODULE_LEVEL = re.compile(r"[\w.-]{1,40}[:/][A-Za-z]{1,12}\d?")
MNEMONIC: Final = re.compile(r"%[A-Z][A-Z0-9_-]{1,60}-([0-7])-[A-Z0-9_]{2,60} ?:")  # of network devices
LETTER: Final = re.compile("([" + "".join(LETTERS) + r"])\d?")  # MongoDB has `D2`
_BEFORE_TIME = re.compile(r"[ ,;|:]{1,3}(?=\d)")
_CLOCKISH = re.compile(r"\d(?::\d\d|\d{7})")
# Two words of a sentence, with nothing between them that sets a level off.
_SENTENCE = re.compile(r"[ \t|\-:>,;*)\]}\"]*+([^\W\d_]{2,40}) ([^\W\d_]{2,40})(?= [^\s|:(-]|$)")
_GLUED_DATE = re.compile(r"([^\s\[(]{2,60}?[:|])(?=\d{4}[-/.]\d\d[-/.]\d\d[T ])")


@dataclass(slots=True)
class Head:
    """What a line says: the form and text of its time, the severity, and the message.

    `channel`: the source that the head names; `context`: pairs and tags that stood before the message; `tags`: those
    that stand in front of each line of a request. `spelled` is the level as it is written. `by_line`: the logger puts
    the head in front of every line of a message. `pairs`: all behind the time, where that begins with a pair.
    """

    form: str
    stamp: str
    severity: str
    message: str
    channel: str = ""
    context: str = ""
    tags: str = ""
    spelled: str = ""
    by_line: bool = False
    pairs: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the lines of a file have in common; see `layout.learn`.

    `level_place`: the token behind the time that is a level, counted from 0, -1 for none known; `upper`: it is written
    in capitals. `times_at`: tokens before the time. `level_first`: lines without a time begin with their level.
    `indents`: blanks before a header. `order`: of day, month and year in dates of numbers, such as "dmy".
    """

    level_place: int = -1
    upper: bool = False
    times_at: frozenset[int] = field(default_factory=frozenset)
    level_first: bool = False
    indents: frozenset[int] = field(default_factory=frozenset)
    order: str = ""


NOTHING_KNOWN: Final = Layout()


@dataclass(slots=True)
class Token:
    """A word, a bracket or a pair at the beginning of a line. `kind`: word, name, group or pair."""

    kind: str
    text: str  # without brackets, and without a colon behind a word
    start: int
    end: int
    set_off: bool = False  # a colon, a bar or a tab stands behind


def tokens(line: str, position: int) -> Iterator[Token]:
    """Give the first tokens from a position on."""
    for _ in range(MAX_TOKENS):
        found = _TOKEN.match(line, position)
        if found is None:
            return
        kind = found.lastindex or 0
        start, position = found.span(kind)
        if kind == 1:
            end = closing(line, start, _CLOSERS[line[start]])
            if end < 0:
                return
            position = end + 1
            yield Token("group", line[start + 1 : end].strip(), start, position)
        elif kind == 2:
            yield Token("pair", found[2], start, position)
        else:
            word = found[3]
            name = word.rstrip(":")
            behind = line[position : position + 2]
            set_off = len(word) != len(name) or behind[:1] in _BAR or behind == " |"
            if not set_off and behind in _PADDED:  # `error    : text`
                set_off = line[position : position + 16].lstrip(" ")[:1] == ":"
            # Digits and signs make a name; so do a bracket right behind and the blanks of a padded column.
            is_name = set_off or behind[:1] in _OPENING or behind in _PADDING or _NAMED.search(name) is not None
            yield Token("name" if is_name else "word", name, start, position, set_off)


def read_head(line: str, known: Layout = NOTHING_KNOWN) -> Head | None:
    """Read the time near the beginning of a line, and a level around it; the severity is "" without a level."""
    stamp = find_stamp(line)
    if stamp is None:
        return _late(line, known) if _CLOCKISH.search(line, 0, _TIME_WITHIN) else None
    form, text, start = stamp
    if line[0] == "[" and line[start - 1] != "]":
        closed = line.find("]", start, start + 150)
        if closed > 0:
            severity, spelled = _behind_time(line[start:closed].strip(" :-,"))
            if severity:
                return Head(form, text, severity, line[closed + 1 :].lstrip(), spelled=spelled)
            start = closed + 1
    return _behind(line, form, text, start, known)


def _behind(line: str, form: str, stamp: str, start: int, known: Layout) -> Head:
    """Make the head of a line whose time ends at `start`."""
    found = find_level(line, start, known)
    rest = line[start:].lstrip(" \t-|:],")
    pairs = rest if _PAIR.match(rest) else ""
    if found is None:
        return Head(form, stamp, "", rest, pairs=pairs)
    severity, spelled, end, context = found
    return Head(form, stamp, severity, message_of(line, end), context=context, spelled=spelled, pairs=pairs)


def _late(line: str, known: Layout) -> Head | None:
    """Read a line whose time stands behind other tokens: a level, an address, the name of a program."""
    if (glued := _GLUED_DATE.match(line)) is not None and (stamp := find_stamp(line, glued.end())) is not None:
        level = next((piece for piece in _PIECES.split(glued[1]) if piece in NAMES and piece not in VAGUE), "")
        if level:  # `Thread-14::ERROR::2025-02-11 07:30:15,120::`
            return Head(stamp[0], stamp[1], NAMES[level], line[stamp[2] :].lstrip(" \t-|:]"), spelled=level)
    severity = spelled = ""
    words = 0
    for index, token in enumerate(tokens(line, 0)):
        stamp = find_stamp(line, token.start)
        if stamp is not None and (token.kind != "group" or line[stamp[2] - 1] in "])>"):
            form, text, end = stamp
            if form in ("time", "clock", "epoch") and words and index not in known.times_at:
                return None
            if severity:
                return Head(form, text, severity, line[end:].lstrip(" \t-|:]"), spelled=spelled)
            head = _behind(line, form, text, end, known)
            return head if head.severity or not words or index in known.times_at else None
        if token.kind == "group":
            if not index and (whole := _all_in_group(line, token)) is not None:
                return whole
            severity, spelled = (severity, spelled) if severity else _in_group(token.text)
        elif token.kind == "word" or (token.kind == "name" and not token.text[:1].isdigit()):
            level = NAMES.get(token.text, "") or (by_name(token.text) if token.set_off else "")
            if not index and len(token.text) == 1 and find_stamp(line, token.end + 1) is not None:
                level = LETTERS.get(token.text.upper(), "")
            if not severity and level:
                severity, spelled = level, token.text
            else:
                words += 1
        if (words > 2 and index >= max(known.times_at, default=0)) or token.end > _TIME_WITHIN:
            return None
    return None


def _all_in_group(line: str, token: Token) -> Head | None:
    """Read a bracket that holds the level and then the time: `[Info: 2025-02-11 07:30:15: main]`, `[shop:warn,...]`."""
    for sign in _BEFORE_TIME.finditer(line, token.start + 1, min(token.end, token.start + 60)):
        stamp = find_stamp(line, sign.end())
        if stamp is None or stamp[0] == "epoch" or stamp[2] > token.end:
            continue
        severity, spelled = _in_group(line[token.start + 1 : sign.start()].strip())
        if not severity:
            return None
        form, text, end = stamp
        context = line[end : token.end - 1].strip(" :,;|-")
        return Head(form, text, severity, line[token.end :].lstrip(" \t-|:"), context=context, spelled=spelled)
    return None


def find_level(line: str, start: int, known: Layout = NOTHING_KNOWN) -> tuple[str, str, int, str] | None:
    """Return the severity, its spelling, the place behind it and the pairs before it; None without a level.

    Before the level may stand brackets, numbers, pairs and names. Words of a sentence end the search: a level among
    them is one only where other lines of the file have theirs at the same place.
    """
    if known.level_place < 2 and (said := _SENTENCE.match(line, start)) is not None:
        first, second = said.groups()
        if first.upper() not in NAMES and second.upper() not in NAMES:
            return None
    words = 0
    after_word = False
    context: list[str] = []
    for index, token in enumerate(tokens(line, start)):
        text, end = token.text, token.end
        expected = index == known.level_place and (text.isupper() or not known.upper)
        if token.kind == "group":
            severity, spelled = _in_group(text)
            if severity and (index == known.level_place or not after_word):
                return severity, spelled, end, " ".join(context)
            after_word = False
            continue
        if token.kind == "pair":
            key, _, value = text.partition("=")
            severity = by_name(value.strip("\"'")) if key.lower() in _LEVEL_KEYS else ""
            if severity:
                return severity, value.strip("\"'"), end, " ".join(context)
            context.append(text)
            after_word = False
            continue
        if token.set_off and text.lower() in _LEVEL_KEYS and (named := _WORD.match(line, end + 1)):
            severity = by_name(named.group().rstrip(":."))
            if severity:
                return severity, named.group().rstrip(":."), named.end(), " ".join(context)
        name = text.rstrip("-.!")
        severity = NAMES.get(name.upper(), "") or (by_name(name) if name[-1:].isdigit() or name[:4] == "LOG_" else "")
        if severity and (expected or (name.isupper() and not after_word and not (words and name in VAGUE))):
            if expected or name not in VAGUE or not index or token.set_off:
                return severity, name, end, " ".join(context)
        elif severity and not after_word and not name.isupper():
            if token.set_off or (line[end : end + 2] == "  " and name.upper() not in VAGUE):
                return severity, name, end, " ".join(context)
            if not index and name.islower() and name.upper() not in VAGUE:
                return severity, name, token.start, ""
        letter = LETTER.fullmatch(name) if len(name) < 3 else None
        if letter and not after_word and (expected or _is_letter_level(line, end)):
            return LETTERS[letter[1]], name, end, " ".join(context)
        if text[1:2] == "/" and text[0] in LETTERS and len(text) > 3 and not after_word:  # Android: `E/Tag`
            return LETTERS[text[0]], text[0], token.start + 2, " ".join(context)
        composed = _composed(name)
        if composed is not None and not after_word:
            return *composed, end, " ".join(context)
        if text[0] == "%" and (cisco := MNEMONIC.match(line, token.start)):
            return SYSLOG[int(cisco[1])], cisco[1], token.start, " ".join(context)
        after_word = token.kind == "word"
        words += after_word
        if words > 1 and index >= known.level_place:
            return None
    return None


def _in_group(text: str) -> tuple[str, str]:
    """Return the severity and spelling of a level in brackets: `[error]`, `[core:error]`, `[Server thread/INFO]`."""
    # A thread has a name of any words, and the level behind it: `[Scheduler Thread #1/INFO]`.
    behind = text.rpartition("/")[2]
    if behind in NAMES and behind not in VAGUE:
        return NAMES[behind], behind
    if len(text) > 60 or not text:
        return "", ""
    severity = by_name(text) or DOUBLED.get(text, "") or (LETTERS.get(text, "") if len(text) == 1 else "")
    if severity:
        return severity, text
    pieces = _PIECES.split(text)
    if len(pieces) <= 4:
        key, sign, value = text.partition("=")
        if not sign:
            key, sign, value = text.partition(":")
        if sign and key.strip().lower() in _LEVEL_KEYS and by_name(value):
            return by_name(value), value.strip()
        for piece in (pieces[-1], pieces[0]):
            if piece in NAMES and piece not in VAGUE:
                return NAMES[piece], piece
        if _MODULE_LEVEL.fullmatch(text):
            return by_name(pieces[-1]), pieces[-1]
        # `[03038 info 'Default' opID=31]`: what stands around it are no words.
        words = [piece for piece in pieces if piece.isalpha()]
        if len(words) == 1 and len(pieces) > 1 and words[0].upper() not in VAGUE:
            return by_name(words[0]), words[0]
    return "", ""


def _behind_time(text: str) -> tuple[str, str]:
    """Return the same of what stands in one bracket with the time: `#31 error 'Shop'`, `ERROR/Worker-1`."""
    severity, spelled = _in_group(text)
    if severity:
        return severity, spelled
    for piece in _PIECES.split(text[:80])[:4]:
        severity = by_name(piece)
        if severity and piece.upper() not in VAGUE:
            return severity, piece
    return "", ""


def _composed(name: str) -> tuple[str, str] | None:
    """Return severity and spelling of a level within a name: `ERROR/ForkPoolWorker-1`, `app.ERROR`, `daemon.err`."""
    if "." not in name and "/" not in name:
        return None
    facility = FACILITY_LEVEL.fullmatch(name)
    if facility is not None and by_name(facility[1]):
        return by_name(facility[1]), facility[1]
    for sign in "/.":
        if sign in name:
            for piece in (name.partition(sign)[0], name.rpartition(sign)[2]):
                if piece in NAMES and piece not in VAGUE:
                    return NAMES[piece], piece
    return None


def _is_letter_level(line: str, end: int) -> bool:
    """Tell whether the letter that ends here is a level: a capital word, a bracket or a name follows."""
    if line[end : end + 1] not in (" ", "\t", "|"):
        return False
    following = line[end : end + 80].lstrip(_SEPARATORS)
    word = following.split(" ", 1)[0]
    return (
        following[:1] in ("[", "(", "<")
        or word.endswith(":")
        or _PADDED_NAME.match(following) is not None
        or (len(word) > 1 and word.isupper())
        or bool(_NAMED.search(word.rstrip(",.")))
    )
