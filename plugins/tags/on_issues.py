"""The tags of issues, for the areas that show and change issues."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, ScalarSelect, Select, select

from snaglist.kernel import Call, NotFound
from snaglist.plugins.system import rows
from snaglist.plugins.tags import queries
from snaglist.plugins.tags.assignments import attach_by_hand, detach_by_hand
from snaglist.plugins.tags.service import UNKNOWN
from snaglist.plugins.tags.tables import issue_tags, tags

_SHOWN = [tags.c[name] for name in ("id", "name", "color", "icon", "created_at", "created_by", "updated_by")]


class OnIssues:
    """What the issues area asks for: see `snaglist.plugins.issues.Tagging`."""

    def put_on(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Put a tag on issues by hand; returns those that exist. NotFound for an unknown tag."""
        held = _hold(call, issue_ids, tag_id)
        attach_by_hand(call.db, sorted(held), tag_id, now=call.now, label=call.label)
        return held

    def take_off(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Take a tag off issues by hand; returns those that exist. NotFound for an unknown tag."""
        held = _hold(call, issue_ids, tag_id)
        detach_by_hand(call.db, sorted(held), tag_id, now=call.now, label=call.label)
        return held

    def shown(self, call: Call, issue_id: int) -> list[dict[str, Any]]:
        """Return the tags of an issue by `key(name)`, each with how the issue got it."""
        return [dict(row) for row in call.db.execute(_of(issue_id, *_SHOWN, issue_tags.c.source)).mappings()]


def tag_names(db: Connection, issue_id: int) -> list[str]:
    """Return the names of an issue's tags by `key(name)`."""
    return list(db.scalars(_of(issue_id, tags.c.name)))


def tagged(tag_id: int) -> Select[tuple[int]]:
    """Select the ids of the issues that have a tag."""
    return select(issue_tags.c.issue_id).where(issue_tags.c.tag_id == tag_id)


def tag_pairs(db: Connection, issue_ids: Collection[int], tag_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return which of the issues have which of the tags, as pairs of issue and tag."""
    pairs = select(issue_tags.c.issue_id, issue_tags.c.tag_id).where(issue_tags.c.tag_id.in_(sorted(tag_ids)))
    return {(row.issue_id, row.tag_id) for row in rows.among(db, pairs, issue_tags.c.issue_id, issue_ids)}


def tag_name(tag_id: Any) -> ScalarSelect[str]:
    """Return the name of the tag that a column refers to, for a statement of another area."""
    return select(tags.c.name).where(tags.c.id == tag_id).scalar_subquery()


def _of(issue_id: int, *columns: Any) -> Select[Any]:
    joined = select(*columns).join_from(issue_tags, tags, tags.c.id == issue_tags.c.tag_id)
    return joined.where(issue_tags.c.issue_id == issue_id).order_by(tags.c.name_key)


def _hold(call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
    if not queries.hold_tags(call.db, [tag_id]):
        raise NotFound(UNKNOWN)
    return queries.hold_issues(call.db, issue_ids)
