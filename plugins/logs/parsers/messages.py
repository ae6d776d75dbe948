"""Where the message begins behind a level: what loggers put between is a thread, a logger's name or a place."""

import re


def closing(line: str, position: int, closer: str) -> int:
    """Return the place of the bracket that closes the one at the position, at most 300 characters on, else -1."""
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


_LOGGER = re.compile(r"[A-Za-z_][\w$-]{0,80}(?:(?:\.|::|/|\$)[\w$-]{1,80}){1,12}(?:@\d{1,6}|:\d{1,6})?(?: ?: | - )")
_SPRING = re.compile(r"\d{1,9} --- ")
# Application, thread and correlation, then the logger padded to a width.
_SPRING_LOGGER = re.compile(r"(?:\[[^\[\]]{0,200}\] ?){1,3} ?[\w.$/\[\]-]{1,200} {0,80}: ")
_CALLER = re.compile(r"\S{1,200}:\d{1,7}$")
_PLACE = re.compile(
    r"(?:[\w./\\-]{1,200}:\d{1,7}\]|\([\w.$<>-]{1,100}:\d{1,7}\) -) ?"
)  # `store.cc:31]`, `(load:408) -`
_COLUMN = re.compile(r" ?[^\s|]{1,150} ?\| ?(?=\S)")


def message_of(line: str, start: int) -> str:
    """Return the message behind the level, without thread, logger name and caller."""
    if line[start : start + 1] == "\t":
        return _tabbed(line[start + 1 :])
    if line[start : start + 1] == "|" or line[start : start + 20].lstrip(" ")[:1] == "|":
        rest = line[start:].lstrip(" |")
        while (column := _COLUMN.match(rest)) is not None:
            rest = rest[column.end() :]
        return rest
    rest = line[start:].lstrip(' \t:-|]>,;"')
    if rest[-1:] == '"' and rest.count('"') == 1:  # the column in quotes that the message is
        rest = rest[:-1]
    spring = _SPRING.match(rest)
    if spring:
        rest = rest[spring.end() :]
        named = _SPRING_LOGGER.match(rest)
        if named:
            return rest[named.end() :]
    place = _PLACE.match(rest)
    if place:
        return rest[place.end() :].lstrip()
    if rest[:1] == "[":
        # A bracket is the thread when a logger name or a separator follows, else it belongs to the message.
        end = closing(rest, 0, "]")
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
