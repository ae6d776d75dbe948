"""Walking lists by the time of the last change where the API pages by number.

An item that changes during the walk moves to the end of the list and lets the others move up, so that a page by number
alone would skip one. Therefore the next page begins at the time of the last item seen, and numbers only tell
items of one second apart. What is given twice does no harm.
"""

from typing import Any, NamedTuple


class Place(NamedTuple):
    """From which time on, and how many items of that list are known."""

    since: str | None
    offset: int = 0

    def page(self, size: int) -> int:
        """Return the number of the page, counted from 1, that holds the next item; known ones may stand before it."""
        return self.offset // size + 1

    def after(self, size: int, last: str | None, *, more: bool) -> Any:
        """Return the cursor behind a page whose last item changed at a time; None when there is no more."""
        if not more or last is None:
            return None
        if self.since is None or last > self.since:
            return [last, 0]
        return [self.since, self.page(size) * size]


def place(since: str | None, cursor: Any) -> Place:
    """Return the place that a cursor means, or where a walk begins."""
    return Place(cursor[0], cursor[1]) if cursor else Place(since)
