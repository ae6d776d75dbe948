"""What to do with a file, given what is known of its path and of its content: a table, without any I/O.

`find_start` collects what the table asks for and acts on the answers.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import Row

from snaglist.plugins.logs.identify.fingerprint import Trail


class Content(Enum):
    """What a file holds of the bytes that were read of the newest source of its path."""

    UNCHANGED = "all of them and no others: size, times and inode are those of the last reading"
    NONE_READ = "none were read, the file was empty"
    SAME = "all of them, and maybe more behind them"
    FIRST_EVENTS = "the first events of them, then others or none"
    OTHER = "other bytes"


class Place(Enum):
    """Where the file is that a source elsewhere was read from."""

    HERE = "at the path of the file: the source is an older one of this path"
    GONE = "not at its path any more"
    THERE = "at its path"
    TAKEN_OVER = "it was dropped, and a connector finds the same log now"


class Decision(Enum):
    """What a file is."""

    UNCHANGED = "nothing is to be read"
    APPEND = "its source goes on"
    BEGIN = "its source begins: the file was empty until now"
    NEW = "a source begins"
    MOVED = "the source elsewhere goes on here, the file is what it was read from"
    COPY = "a source begins behind the bytes that the source elsewhere has"
    DUPLICATE = "all of it is known elsewhere, or will be"
    SHRUNK = "a source begins behind the first events, which are stored"
    DISPLACED = "the file that was here went elsewhere, and its source has to follow it first"
    LOOK = "not known before the sources elsewhere were looked at"


@dataclass(frozen=True, slots=True)
class Here:
    """The newest source of the file's path. `borrowed`: it is that of a copy of which nothing was read.

    `followed`: it was tried to let it follow the file that was here.
    """

    content: Content
    borrowed: bool = False
    followed: bool = False


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A source with bytes that the file begins with, or is the beginning of.

    `complete`: the file has no bytes of its own. `trail` is behind those in common. `ends` is where a copy ended that
    may be in the making: when it is longer by the time it is read, it has to be compared again.
    """

    source: Row[Any]
    place: Place
    complete: bool = False
    trail: Trail | None = None
    ends: int | None = None


def decide(here: Here | None, elsewhere: Elsewhere | None, *, looked: bool = True) -> Decision:
    """Return what a file is, by the first line that fits; `looked`: the sources elsewhere were asked."""
    match here, elsewhere:
        case Here(Content.UNCHANGED), _:
            return Decision.UNCHANGED
        case Here(Content.SAME, borrowed=False), _:
            return Decision.APPEND
        case Here(Content.FIRST_EVENTS), _:
            return Decision.SHRUNK
        case Here(Content.OTHER, followed=False), _:
            return Decision.DISPLACED
        case _, None if not looked:
            return Decision.LOOK
        case Here(Content.SAME), None:
            return Decision.APPEND
        case Here(Content.NONE_READ), None:
            return Decision.BEGIN
        case _, None:
            return Decision.NEW
        case _, Elsewhere(place=Place.HERE | Place.GONE | Place.TAKEN_OVER):
            return Decision.MOVED
        case _, Elsewhere(complete=True):
            return Decision.DUPLICATE
        case _:
            return Decision.COPY
