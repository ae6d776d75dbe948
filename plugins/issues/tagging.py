"""Tags of issues, which belong to an area above: what this one needs of them."""

from snaglist.kernel import Call
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.contract import Tagging


def tagging(call: Call) -> Tagging:
    """Return the tags of issues."""
    return call.service.plugins.types(hookspecs.register_tagging)["tags"]
