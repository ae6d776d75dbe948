"""Statements of forgetting people."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, exists, select, update

from snaglist.kernel import digest
from snaglist.kernel.database import insert_ignore
from snaglist.plugins.issues.facets import USER
from snaglist.plugins.issues.learning.tables import learned_slots, learned_templates
from snaglist.plugins.issues.tables import grouping_texts, groupings, issue_facets, issues, occurrences
from snaglist.plugins.issues.values.reading import TEXTS
from snaglist.plugins.issues.values.storing import LAYOUT, STACK
from snaglist.plugins.system import rows


def issues_of(db: Connection, occurrence_ids: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the issues of occurrences, with the times of the first and the last of them."""
    found: dict[int, tuple[str, str]] = {}
    columns = select(occurrences.c.issue_id, occurrences.c.occurred_at)
    for issue_id, at in rows.among(db, columns, occurrences.c.id, occurrence_ids):
        first, last = found.get(issue_id, (at, at))
        found[issue_id] = (min(first, at), max(last, at))
    return found


def showing(db: Connection, occurrence_ids: Collection[int]) -> set[int]:
    """Return the issues that show one of these events."""
    return {row.id for row in rows.among(db, select(issues.c.id), issues.c.sample_occurrence_id, occurrence_ids)}


def note_user(db: Connection, user: str, spans: Mapping[int, tuple[str, str]]) -> None:
    """Have issues count a user that they did not tell apart, so that they are found by it later."""
    one = {"facet": USER, "value": user, "value_hash": digest(user), "count": 0}
    noted = [
        {**one, "issue_id": issue_id, "first_seen": first, "last_seen": last}
        for issue_id, (first, last) in sorted(spans.items())
    ]
    insert_ignore(db, issue_facets, noted)


def issues_of_user(db: Connection, user: str, after_id: int, limit: int) -> list[int]:
    """Return a page, by id, of the issues that count a user."""
    mine = (issue_facets.c.facet == USER, issue_facets.c.value_hash == digest(user), issue_facets.c.issue_id > after_id)
    found = select(issue_facets.c.issue_id).where(*mine).order_by(issue_facets.c.issue_id)
    return list(db.execute(found.limit(limit)).scalars())


def drop_user(db: Connection, user: str, issue_ids: Sequence[int]) -> None:
    """Count a user no more in issues that have no event of theirs."""
    left = exists().where(occurrences.c.issue_id == issue_facets.c.issue_id, occurrences.c.user_name == user)
    mine = (issue_facets.c.facet == USER, issue_facets.c.value_hash == digest(user))
    rows.among(db, delete(issue_facets).where(*mine, ~left), issue_facets.c.issue_id, issue_ids)


def latest_text(db: Connection, sources: Table, issue_id: int, but: str) -> Row[Any] | None:
    """Return what is stored of the text of an issue's latest event that did not happen to somebody."""
    shown = TEXTS.add_columns(occurrences.c.severity, sources.c.log_type, sources.c.channel)
    others = (occurrences.c.issue_id == issue_id, occurrences.c.user_name.is_distinct_from(but))
    newest = (occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
    statement = shown.join(sources, sources.c.id == occurrences.c.source_id).where(*others).order_by(*newest)
    return db.execute(statement.limit(1)).first()


def newest_grouping(db: Connection, issue_id: int) -> dict[str, Any] | None:
    """Return the parts of the newest grouping of an issue."""
    mine = select(groupings.c.parts).where(groupings.c.issue_id == issue_id)
    found: dict[str, Any] | None = db.execute(mine.order_by(groupings.c.id.desc()).limit(1)).scalar()
    return found


def drop_unused_layouts(db: Connection, issue_id: int) -> None:
    """Remove the layouts of an issue's groupings that no message of its events has."""
    used = select(occurrences.c.layout_id).where(occurrences.c.issue_id == issue_id).distinct()
    known = set(db.execute(used).scalars())
    mine = select(grouping_texts.c.id).join(groupings, groupings.c.id == grouping_texts.c.grouping_id)
    stored = db.execute(mine.where(groupings.c.issue_id == issue_id, grouping_texts.c.kind == LAYOUT)).scalars()
    rows.among(db, delete(grouping_texts), grouping_texts.c.id, set(stored) - known)


def stacks_of(db: Connection, issue_id: int) -> list[Row[Any]]:
    """Return the stacks of an issue's groupings."""
    mine = select(grouping_texts.c.id, grouping_texts.c.body, grouping_texts.c.words)
    mine = mine.join(groupings, groupings.c.id == grouping_texts.c.grouping_id)
    return list(db.execute(mine.where(groupings.c.issue_id == issue_id, grouping_texts.c.kind == STACK)))


def set_words(db: Connection, text_id: int, words: str | None) -> None:
    """Let a text of a grouping be found by other words."""
    db.execute(update(grouping_texts).where(grouping_texts.c.id == text_id).values(words=words))


def groupings_of(db: Connection, issue_id: int) -> list[Row[Any]]:
    """Return key and parts of an issue's groupings."""
    columns = (groupings.c.id, groupings.c.key, groupings.c.parts)
    return list(db.execute(select(*columns).where(groupings.c.issue_id == issue_id)))


def has_events(db: Connection, issue_id: int, grouping_id: int) -> bool:
    """Tell whether a grouping has stored events."""
    mine = (occurrences.c.issue_id == issue_id, occurrences.c.grouping_id == grouping_id)
    return db.execute(select(occurrences.c.id).where(*mine).limit(1)).first() is not None


def change_grouping(db: Connection, grouping_id: int, key: str, parts: Any) -> None:
    """Write key and parts of a grouping; its fingerprint still leads to it."""
    db.execute(update(groupings).where(groupings.c.id == grouping_id).values(key=key, parts=parts))


def templates_of(db: Connection, grouping_id: int) -> list[Row[Any]]:
    """Return what was learned of a grouping's template."""
    columns = (learned_templates.c.id, learned_templates.c.template)
    return list(db.execute(select(*columns).where(learned_templates.c.grouping_id == grouping_id)))


def slots_of(db: Connection, template_id: int) -> list[Row[Any]]:
    """Return the words that a learned template has in its slots."""
    columns = (learned_slots.c.digest, learned_slots.c.words)
    return list(db.execute(select(*columns).where(learned_slots.c.template_id == template_id)))


def change_template(db: Connection, template_id: int, template: str) -> None:
    """Write a learned template; its digest still leads to it."""
    db.execute(update(learned_templates).where(learned_templates.c.id == template_id).values(template=template))


def change_slot(db: Connection, template_id: int, digest: str, words: Any) -> None:
    """Write the words of a slot."""
    mine = (learned_slots.c.template_id == template_id, learned_slots.c.digest == digest)
    db.execute(update(learned_slots).where(*mine).values(words=words))
