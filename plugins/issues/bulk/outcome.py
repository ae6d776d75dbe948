"""What a bulk action did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from snaglist.plugins.issues.status import Fix


@dataclass(slots=True)
class Outcome:
    """What an action did: fields of its own in the answer, statuses before, what plugins add, issues left as they are.

    Those are gone, or, for an action that takes something back, were touched since. `fixes` says of issues that counted
    as fixed before since when, and in which release; None where that is not known of all.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    previous: dict[int, str] = field(default_factory=dict)
    reactions: dict[str, Any] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    fixes: dict[int, Fix] | None = field(default_factory=dict)

    def include(self, other: "Outcome") -> None:
        """Add the outcome of further issues."""
        self.fields |= other.fields
        self.previous |= other.previous
        self.reactions |= other.reactions
        self.gone |= other.gone
        self.fixes = None if self.fixes is None or other.fixes is None else self.fixes | other.fixes

    def answer(self, action: str, ids: Sequence[int]) -> dict[str, Any]:
        """Return the answer of the endpoint."""
        previous = {str(issue_id): self.previous[issue_id] for issue_id in sorted(self.previous)}
        done = [issue_id for issue_id in ids if issue_id not in self.gone]
        counted = {"updated": len(done), "ids": done, "previous": previous}
        if action == "status" and self.fixes is not None:  # what an undo asks for
            counted["fixes"] = {str(issue_id): list(fix) for issue_id, fix in sorted(self.fixes.items())}
        return {**self.reactions, "action": action, **self.fields, **counted}
