"""Reading an event back from where it came from: the areas that keep the text know how."""

from snaglist.kernel import Call
from snaglist.plugins.issues.events import Event

# Areas that can read an event back register `name -> (call, occurrence id) -> Event | None` under this kind.
READERS = "occurrence_reader"


def read_back(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence, None when its text cannot be read any more."""
    for read in call.service.plugins.types(READERS).values():
        event: Event | None = read(call, occurrence_id)
        if event is not None:
            return event
    return None
