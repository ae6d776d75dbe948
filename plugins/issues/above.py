"""Tags and sources, which belong to areas above: what this one needs of them."""

from snaglist.kernel import Call
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.contract import Sources, Tagging


def tagging(call: Call) -> Tagging:
    """Return the tags of issues."""
    return call.service.plugins.types(hookspecs.register_tagging)["tags"]


def sources(call: Call) -> Sources:
    """Return the sources of events."""
    return call.service.plugins.types(hookspecs.register_sources)["sources"]
