"""What to call the values of a message: by the key or the word in front of each, and by the unit behind it."""

import re
from functools import lru_cache
from itertools import pairwise

from snaglist.plugins.issues.grouping.phrases import UNIT

_KEY = re.compile(r"""([^\W\d][\w.-]{0,60})\s?[=:]\s?["'\[({<]?\Z""")
_WORD = re.compile(r"([^\W\d_][\w-]{0,40})[^\w]{0,12}\Z")
_UNIT = re.compile(rf"\s?({UNIT})(?![\w=-])")
_AFTER = re.compile(r"\s?([^\W\d_]{3,40})\b")


@lru_cache(maxsize=4096)
def named(pieces: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the name and the unit ("" without one) of each value of a layout; names differ from each other."""
    found: list[tuple[str, str]] = []
    taken: dict[str, int] = {}
    for before, after in pairwise(pieces):
        unit = _UNIT.match(after)
        name = _name(before, after) or "value"
        taken[name] = taken.get(name, 0) + 1
        number = f" {taken[name]}" if taken[name] > 1 else ""
        found.append((name + number, unit[1] if unit else ""))
    return found


def _name(before: str, after: str) -> str:
    said = _KEY.search(before) or _WORD.search(before) or _AFTER.match(after)
    return said[1].lower() if said else ""
