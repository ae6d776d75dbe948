"""SQL of the tags area."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, func, insert, or_, select, true

from snaglist.kernel import key
from snaglist.kernel.database import insert_ignore
from snaglist.plugins.issues import stored
from snaglist.plugins.system import rows
from snaglist.plugins.tags.tables import issue_tags as _links
from snaglist.plugins.tags.tables import tag_rules as _rules
from snaglist.plugins.tags.tables import tags as _tags

_issues, _samples = stored.issues, stored.samples


@dataclass(frozen=True, slots=True)
class Rule:
    """An auto-tagging rule: which word, folded, gives which tag."""

    id: int
    tag_id: int
    match_key: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class IssueText:
    """What rules look at, folded. `source`: how the issue has the tag in question, None when it has not."""

    id: int
    fields: tuple[str, ...]
    source: str | None = None


# --- tags ---------------------------------------------------------------------------------------------------------


def all_tags(db: Connection) -> Sequence[Row[Any]]:
    """Return every tag with its rule and number of issues, in the order of `key(name)`."""
    return db.execute(_tag_rows().order_by(_tags.c.name_key)).all()


def one_tag(db: Connection, tag_id: int) -> Row[Any] | None:
    """Return one tag like `all_tags`."""
    return db.execute(_tag_rows().where(_tags.c.id == tag_id)).first()


def _tag_rows() -> Select[Any]:
    issue_count = (
        select(func.count()).select_from(_links).where(_links.c.tag_id == _tags.c.id).correlate(_tags).scalar_subquery()
    )
    return select(
        _tags,
        _rules.c.id.label("rule_id"),
        _rules.c.match_word,
        _rules.c.enabled.label("rule_enabled"),
        issue_count.label("issue_count"),
    ).select_from(_tags.outerjoin(_rules, _rules.c.tag_id == _tags.c.id))


def lock_tag(db: Connection, tag_id: int) -> bool:
    """Keep others from changing the tag, its rule or the rule's assignments until the end of the transaction.

    Returns False when there is no such tag.
    """
    return rows.find(db, _tags, tag_id, lock=True) is not None


def hold_tags(db: Connection, ids: Collection[int]) -> set[int]:
    """Keep tags from being deleted until the end of the transaction; returns those that exist."""
    return _hold(db, _tags.c.id, ids)


def hold_issues(db: Connection, ids: Collection[int]) -> set[int]:
    """Keep issues from being deleted until the end of the transaction; returns those that exist."""
    return _hold(db, _issues.id, ids)


def _hold(db: Connection, column: ColumnElement[int], ids: Collection[int]) -> set[int]:
    # The same locks that the foreign keys of an assignment take a moment later.
    held = select(column).order_by(column).with_for_update(read=True, key_share=True)
    return {row.id for row in rows.among(db, held, column, ids)}


def tag_ids(db: Connection, name_keys: Sequence[str]) -> dict[str, int]:
    """Return the ids of existing tags by `key(name)`, kept from being deleted like by `hold_tags`."""
    held = select(_tags.c.name_key, _tags.c.id).order_by(_tags.c.id).with_for_update(read=True, key_share=True)
    return {row.name_key: row.id for row in rows.among(db, held, _tags.c.name_key, name_keys)}


def count_tags(db: Connection) -> int:
    """Return how many tags there are."""
    return int(db.execute(select(func.count()).select_from(_tags)).scalar_one())


def insert_missing_tags(db: Connection, missing: Sequence[Mapping[str, Any]]) -> None:
    """Insert tags, given in the order of `name_key`; names that exist meanwhile are left as they are."""
    insert_ignore(db, _tags, missing)


# --- rules --------------------------------------------------------------------------------------------------------


def rule_of(db: Connection, tag_id: int) -> Rule | None:
    """Return the rule of a tag."""
    found = db.execute(_rule_rows().where(_rules.c.tag_id == tag_id)).first()
    return None if found is None else Rule(*found)


def enabled_rules(db: Connection) -> list[Rule]:
    """Return all enabled rules."""
    return [Rule(*row) for row in db.execute(_ENABLED_RULES)]


def _rule_rows() -> Select[Any]:
    return select(_rules.c.id, _rules.c.tag_id, _rules.c.match_key, _rules.c.enabled)


_ENABLED_RULES = _rule_rows().where(_rules.c.enabled == true()).order_by(_rules.c.tag_id)  # PERF: with every batch


def insert_rule(db: Connection, row: Mapping[str, Any]) -> None:
    """Insert the rule of a tag that has none."""
    db.execute(insert(_rules).values(row))


def delete_rule(db: Connection, tag_id: int) -> None:
    """Delete the rule of a tag; what it assigned stays."""
    db.execute(delete(_rules).where(_rules.c.tag_id == tag_id))


# --- what rules look at -------------------------------------------------------------------------------------------


def last_of_batch(db: Connection, after: int, size: int) -> tuple[int, int] | None:
    """Return the last id of the next at most `size` issues after an id, and their number; None at the end."""
    batch = select(_issues.id).where(_issues.id > after).order_by(_issues.id).limit(size).subquery()
    last, number = db.execute(select(func.max(batch.c.id), func.count())).one()
    return None if last is None else (last, number)


def candidates(db: Connection, match_key: str, first: int, last: int, tag_id: int) -> Iterator[IssueText]:
    """Return the issues of an id range that may hold the folded word, and those that have the tag by its rule.

    The test here only narrows, so that databases cannot differ: the caller decides on the folded fields.
    """
    tagged = _texts(_links.c.source).outerjoin(_links, and_(_links.c.issue_id == _issues.id, _links.c.tag_id == tag_id))
    may_match = or_(stored.may_hold(match_key), _links.c.source == "rule")
    found = tagged.where(_issues.id > first, _issues.id <= last, may_match).order_by(_issues.id)
    return map(_issue_text, db.execute(found))


def issue_texts(db: Connection, issue_ids: Sequence[int]) -> list[IssueText]:
    """Return what rules look at for some issues; those that do not exist are left out."""
    return list(map(_issue_text, rows.among(db, _texts().order_by(_issues.id), _issues.id, issue_ids)))


def _texts(*more: Any) -> Select[Any]:
    return stored.with_sample(select(_issues.id, _issues.title, _samples.message, _issues.exception_class, *more))


def _issue_text(row: Row[Any]) -> IssueText:
    fields = (row.title, row.message, row.exception_class)
    return IssueText(row.id, tuple(key(field) for field in fields if field), getattr(row, "source", None))


# --- assignments made by rules ------------------------------------------------------------------------------------


def assignments(db: Connection, issue_ids: Sequence[int], source: str) -> set[tuple[int, int]]:
    """Return the (issue, tag) pairs that a source assigned to some issues."""
    by_source = select(_links.c.issue_id, _links.c.tag_id).where(_links.c.source == source)
    return {(row.issue_id, row.tag_id) for row in rows.among(db, by_source, _links.c.issue_id, issue_ids)}


def clear_assignments(db: Connection, pairs: Collection[tuple[int, int]], source: str) -> None:
    """Take tags from issues, as (issue, tag), that have them by a source."""
    by_tag: dict[int, list[int]] = defaultdict(list)
    for issue_id, tag_id in sorted(pairs):
        by_tag[tag_id].append(issue_id)
    for tag_id, issue_ids in sorted(by_tag.items()):
        cleared = delete(_links).where(_links.c.tag_id == tag_id, _links.c.source == source)
        rows.among(db, cleared, _links.c.issue_id, issue_ids)


def some_assigned_by_rule(db: Connection, tag_id: int, size: int) -> list[int]:
    """Return at most `size` issues that have the tag by its rule."""
    by_rule = select(_links.c.issue_id).where(_links.c.tag_id == tag_id, _links.c.source == "rule")
    return sorted(db.scalars(by_rule.limit(size)))
