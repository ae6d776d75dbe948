"""The life cycle of a tag on an issue: what people do wins, and what they took off stays off."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, delete, select, update

from snaglist.kernel.database import chunks, insert_ignore
from snaglist.plugins.system import insert_rows, rows
from snaglist.plugins.tags.tables import issue_tags, tag_removals

Pair = tuple[int, int]


def attach_by_hand(db: Connection, issue_ids: Sequence[int], tag_id: int, *, now: str, label: str | None) -> None:
    """Put a tag on issues by hand: any assignment becomes `manual`, an earlier removal is forgotten."""
    rows.among(db, delete(tag_removals).where(tag_removals.c.tag_id == tag_id), tag_removals.c.issue_id, issue_ids)
    by_hand = {"source": "manual", "created_at": now, "created_by": label}
    others = update(issue_tags).where(issue_tags.c.tag_id == tag_id, issue_tags.c.source != "manual").values(by_hand)
    rows.among(db, others, issue_tags.c.issue_id, issue_ids)
    made = [{"issue_id": issue_id, "tag_id": tag_id, **by_hand} for issue_id in sorted(set(issue_ids))]
    insert_ignore(db, issue_tags, made)


def detach_by_hand(db: Connection, issue_ids: Sequence[int], tag_id: int, *, now: str, label: str | None) -> None:
    """Take a tag off issues by hand; where it was, no rule, sender or tracker puts it on again."""
    has, of = issue_tags.c.tag_id == tag_id, issue_tags.c.issue_id
    tagged = [row.issue_id for row in rows.among(db, select(of).where(has).order_by(of), of, set(issue_ids))]
    rows.among(db, delete(issue_tags).where(has), of, tagged)
    removed = {"tag_id": tag_id, "removed_at": now, "removed_by": label}
    insert_ignore(db, tag_removals, [{"issue_id": issue_id, **removed} for issue_id in tagged])


def attach_automatic(db: Connection, pairs: Sequence[Pair], source: str, *, now: str) -> None:
    """Put tags on issues, as (issue id, tag id), for a rule, a sender (`ingest`) or the tracker.

    Only adds: an assignment that exists stays as it is, and a tag that was removed by hand stays off.
    """
    for some in chunks(sorted(set(pairs)), rows.MOST):
        removed = _removed(db, some)
        made = [
            {"issue_id": issue_id, "tag_id": tag_id, "source": source, "created_at": now, "created_by": None}
            for issue_id, tag_id in some
            if (issue_id, tag_id) not in removed
        ]
        insert_ignore(db, issue_tags, made)


def move_tags(db: Connection, issue_ids: Sequence[int], target_id: int) -> None:
    """Join the tags of merged issues in the target: the union, where `manual` wins over other sources.

    Removals by hand come along, except of tags that the target then has.
    """
    everywhere = sorted({*issue_ids, target_id})
    found, removals = _rows_of(db, issue_tags, everywhere), _rows_of(db, tag_removals, everywhere)
    # The target's own rows come first, so that they stay unless a manual one wins.
    found = sorted(found, key=lambda row: (row["source"] != "manual", row["issue_id"] != target_id, row["issue_id"]))
    refused = {row["tag_id"] for row in removals if row["issue_id"] == target_id}
    tags: dict[int, dict[str, Any]] = {}
    for row in found:
        if row["source"] == "manual" or row["tag_id"] not in refused:
            tags.setdefault(row["tag_id"], {**row, "issue_id": target_id})
    kept = {row["tag_id"]: {**row, "issue_id": target_id} for row in removals if row["tag_id"] not in tags}
    for table, joined in ((issue_tags, tags), (tag_removals, kept)):
        rows.among(db, delete(table), table.c.issue_id, everywhere)
        insert_rows(db, table, [row for _, row in sorted(joined.items())])


def copy_tags(db: Connection, issue_id: int, new_id: int) -> None:
    """Give a new issue the tags of another one, and the memory of those taken off it by hand."""
    for table in (issue_tags, tag_removals):
        insert_rows(db, table, [{**row, "issue_id": new_id} for row in _rows_of(db, table, [issue_id])])


def _rows_of(db: Connection, table: Table, issue_ids: Sequence[int]) -> list[RowMapping]:
    return [row._mapping for row in rows.among(db, select(table), table.c.issue_id, issue_ids)]


def _removed(db: Connection, pairs: Sequence[Pair]) -> set[Pair]:
    statement = select(tag_removals.c.issue_id, tag_removals.c.tag_id).where(
        tag_removals.c.issue_id.in_(sorted({issue_id for issue_id, _ in pairs})),
        tag_removals.c.tag_id.in_(sorted({tag_id for _, tag_id in pairs})),
    )
    return {(row.issue_id, row.tag_id) for row in db.execute(statement)}
