"""Tags of issues, which belong to an area above: what this one needs of them."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from snaglist.kernel import Call

KIND = "tagging"


class Tagging(Protocol):
    """The tags of issues, in the open transaction; registered as a type `tagging` named `tags`."""

    def put_on(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Put a tag on issues by hand; returns those that exist. NotFound for an unknown tag."""

    def take_off(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Take a tag off issues by hand; returns those that exist. NotFound for an unknown tag."""

    def shown(self, call: Call, issue_id: int) -> Sequence[dict[str, Any]]:
        """Return the tags of an issue by `key(name)`, each with how the issue got it."""


def tagging(call: Call) -> Tagging:
    """Return the tags of issues."""
    found: Tagging = call.service.plugins.types(KIND)["tags"]
    return found
