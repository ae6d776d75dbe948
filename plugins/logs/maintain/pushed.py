"""Grouping pushed events again, from the text that was stored with them.

Who stores such texts implements the hook `read_occurrence`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, EventSource, Reread, Unstored, read_back, reread_events
from snaglist.plugins.logs.store import queries

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Page:
    """Some occurrences of a pushed channel in order, with the events that were read back."""

    rows: Sequence[Row[Any, Any, Any, Any]]
    events: Sequence[Event]

    @property
    def end(self) -> int:
        """The position behind the page."""
        return int(self.rows[-1].byte_start) + 1

    @property
    def without_text(self) -> int:
        """How many occurrences stay as they are."""
        return len(self.rows) - len(self.events)


def pages(call: Call, source: Row[Any], position: int) -> Iterator[Page]:
    """Give the occurrences of a channel from a position on."""
    while True:
        with call.transaction(write=False) as db:
            rows = queries.occurrences_from(db, source.id, position, PAGE)
            events = [event for row in rows if (event := _read_back(call, row)) is not None]
        if not rows:
            return
        page = Page(rows, events)
        yield page
        position = page.end


def regroup(call: Call, source: Row[Any], page: Page) -> Reread:
    """Group the events of a page again, in the open write transaction."""
    return reread_events(
        call,
        EventSource(source.id, source.module_id, source.path),
        page.rows[0].byte_start,
        page.end,
        page.events,
        unstored=lambda _: Unstored.DROPPED,  # it was deleted since the page was read
        untouched={row.byte_start for row in page.rows} - {event.byte_start for event in page.events},
    )


def _read_back(call: Call, row: Row[Any, Any, Any, Any]) -> Event | None:
    event = read_back(call, row.id)
    if event is not None:
        event.byte_start, event.byte_end, event.event_id = row.byte_start, row.byte_end, row.event_id
    return event
