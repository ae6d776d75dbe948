"""Reading an event back from where it came from: the areas that keep the text know how."""

from snaglist.kernel import Call
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.events import Event


def read_back(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence, None when its text cannot be read any more."""
    answers = (read(call, occurrence_id) for _, read in call.service.plugins.calls(hookspecs.read_occurrence))
    return next((event for event in answers if event is not None), None)
