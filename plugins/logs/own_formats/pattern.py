"""A format: its fields, what makes it fit to be used, and what it reads of a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from snaglist.kernel import Invalid, digest
from snaglist.plugins.logs.own_formats.engine import BadExpression, Expression

MESSAGE, TIME, LEVEL = "message", "time", "level"
CHANNELS = ("logger", "channel")
# Groups that have a place in an event, and what follows the match; all others are context.
PLACED = frozenset((TIME, LEVEL, MESSAGE, *CHANNELS, "host", ""))
PREFIX = "format_"  # of the log type of what a format reads


@dataclass(frozen=True, slots=True)
class Format:
    """A format as it is used; `zone` is that of times without an offset, None: that of the file."""

    name: str
    pattern: str
    zone: str | None = None

    @property
    def log_type(self) -> str:
        """The log type of what it reads."""
        return PREFIX + self.name


@lru_cache(maxsize=200)
def compiled(pattern: str) -> Expression:
    """Return the expression of a pattern; Invalid, with the field and the way on, for one that cannot be used."""
    try:
        expression = Expression(pattern)
    except BadExpression as error:
        raise Invalid(f"pattern: {error}") from error
    if MESSAGE not in expression.groups:
        raise Invalid("pattern: has no group for the message: put (?P<message>.*) where the message stands")
    if TIME not in expression.groups and LEVEL not in expression.groups:
        raise Invalid(
            "pattern: has no group for a time and none for a level: put (?P<time>…) or (?P<level>…) where one stands"
        )
    if expression.find("") is not None:
        raise Invalid("pattern: fits an empty line, and so any line: say what stands before the message")
    return expression


def digest_of(formats: Sequence[Format]) -> str:
    """Return what tells a list of formats from another one, "" of none."""
    return digest(repr([(one.name, one.pattern, one.zone) for one in formats]))[:8] if formats else ""
