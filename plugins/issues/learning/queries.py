"""Statements of learning; look-ups are by digest or id, for many at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, exists, insert, or_, select, update

from snaglist.kernel.database import insert_ignore, inserted_id, upsert
from snaglist.kernel.store import settings
from snaglist.plugins.issues.learning.evidence import Member
from snaglist.plugins.issues.learning.slots import Word
from snaglist.plugins.issues.learning.tables import learned_apart, learned_later, learned_slots, learned_templates
from snaglist.plugins.issues.tables import groupings, issues
from snaglist.plugins.system import rows

TURN = "issues.learning"
EVENTS, OPEN = "events", "open"  # 0.1.0 wrote "joining", too: such a row leads to its issue and joins no more


class NodeRow(NamedTuple):
    """A node and the grouping that it leads to."""

    id: int
    digest: str
    role: str
    context: str
    template: str
    grouping_id: int


_NODE = (
    learned_templates.c.id,
    learned_templates.c.digest,
    learned_templates.c.role,
    learned_templates.c.context,
    learned_templates.c.template,
    learned_templates.c.grouping_id,
)

_MEMBERS = (
    select(
        learned_slots.c.digest,
        learned_slots.c.template_id,
        learned_slots.c.words,
        learned_templates.c.role,
        learned_templates.c.grouping_id,
    )
    .join_from(learned_slots, learned_templates, learned_templates.c.id == learned_slots.c.template_id)
    .order_by(learned_slots.c.digest, learned_slots.c.template_id)
)
_put_off = select(
    groupings.c.id, groupings.c.key, groupings.c.parts, groupings.c.fingerprint_version, learned_later.c.tries
).join_from(learned_later, groupings, groupings.c.id == learned_later.c.grouping_id)


def take_turn(db: Connection, now: str) -> None:
    """Wait until no other transaction learns: two that each see half of the evidence would both miss it."""
    if db.dialect.name == "sqlite":  # one writer at a time anyway
        return
    insert_ignore(db, settings, [{"key": TURN, "value": True, "updated_at": now}])
    db.execute(select(settings.c.key).where(settings.c.key == TURN).with_for_update()).all()


def nodes(db: Connection, digests: Iterable[str], role: str) -> list[NodeRow]:
    """Return the rows of a role with these digests."""
    of_role = select(*_NODE).where(learned_templates.c.role == role)
    return [NodeRow(*row) for row in rows.among(db, of_role, learned_templates.c.digest, digests)]


def nodes_with_ids(db: Connection, ids: Iterable[int]) -> list[NodeRow]:
    """Return the rows with these ids."""
    by_id = select(*_NODE).order_by(learned_templates.c.id)
    return [NodeRow(*row) for row in rows.among(db, by_id, learned_templates.c.id, ids)]


def nodes_of_groupings(db: Connection, grouping_ids: Sequence[int]) -> list[NodeRow]:
    """Return the templates of groupings."""
    by_id = select(*_NODE).where(learned_templates.c.role == EVENTS).order_by(learned_templates.c.id)
    return [NodeRow(*row) for row in rows.among(db, by_id, learned_templates.c.grouping_id, grouping_ids)]


def add_nodes(db: Connection, made: Sequence[Mapping[str, Any]]) -> None:
    """Insert nodes; one that exists stays."""
    insert_ignore(db, learned_templates, made)


def add_node(db: Connection, row: Mapping[str, Any]) -> int:
    """Insert one node and return its id."""
    return inserted_id(db.execute(insert(learned_templates).values(row)))


def members(db: Connection, digests: Iterable[str]) -> tuple[dict[str, list[Member]], dict[int, int]]:
    """Return the members of slots, and the groupings that these nodes lead to."""
    found: defaultdict[str, list[Member]] = defaultdict(list)
    leads_to: dict[int, int] = {}
    for row in rows.among(db, _MEMBERS, learned_slots.c.digest, digests):
        words = {position: Word(word, doubtful) for position, word, doubtful in row.words}
        found[row.digest].append(Member(row.template_id, words, row.role == OPEN))
        leads_to[row.template_id] = row.grouping_id
    return dict(found), leads_to


def add_members(db: Connection, made: Iterable[tuple[str, Member]]) -> None:
    """Insert members of slots."""
    listed = [
        {
            "digest": digest,
            "template_id": member.node,
            "words": [[position, word.text, word.doubtful] for position, word in sorted(member.words.items())],
        }
        for digest, member in made
    ]
    insert_ignore(db, learned_slots, sorted(listed, key=lambda row: (row["digest"], row["template_id"])))


def apart(db: Connection, grouping_ids: Collection[int]) -> set[int]:
    """Return those of the groupings that people took apart."""
    of = learned_apart.c.grouping_id
    return {row.grouping_id for row in rows.among(db, select(of), of, grouping_ids)}


def set_apart(db: Connection, grouping_id: int, now: str, actor: str | None) -> None:
    """Remember that people took a grouping apart."""
    row = {"grouping_id": grouping_id, "created_at": now, "actor": None if actor is None else actor[:200]}
    insert_ignore(db, learned_apart, [row])


def due(db: Connection, now: str, version: str, limit: int) -> Sequence[Row[Any, Any, Any, Any, Any]]:
    """Return groupings that are to be learned after a failure: their time has come, or another version tried."""
    later = learned_later.c
    wanted = or_(later.due_at <= now, later.version < version, later.version > version)
    return db.execute(_put_off.where(wanted).limit(limit)).all()


def put_off_behind(db: Connection, grouping_id: int, limit: int) -> Sequence[Row[Any, Any, Any, Any, Any]]:
    """Return a page of the groupings that could not be learned, by id."""
    behind = _put_off.where(learned_later.c.grouping_id > grouping_id)
    return db.execute(behind.order_by(learned_later.c.grouping_id).limit(limit)).all()


def put_off(db: Connection, row: Mapping[str, Any]) -> None:
    """Remember that a grouping could not be learned."""
    upsert(db, learned_later, [row], replace=("tries", "due_at", "version"))


def forget_later(db: Connection, grouping_id: int) -> None:
    """Forget that a grouping could not be learned."""
    db.execute(delete(learned_later).where(learned_later.c.grouping_id == grouping_id))


def lead_slots(db: Connection, grouping_id: int, other_id: int) -> None:
    """Let the slots that lead to a grouping lead to another one."""
    mine = (learned_templates.c.grouping_id == grouping_id, learned_templates.c.role != EVENTS)
    db.execute(update(learned_templates).where(*mine).values(grouping_id=other_id))


def joined_grouping(db: Connection, issue_id: int, but: int) -> int | None:
    """Return a grouping of an issue with a learned template that nobody took apart."""
    statement = (
        select(learned_templates.c.grouping_id)
        .join_from(learned_templates, groupings, groupings.c.id == learned_templates.c.grouping_id)
        .where(
            groupings.c.issue_id == issue_id,
            groupings.c.id != but,
            ~exists().where(learned_apart.c.grouping_id == groupings.c.id),
        )
        .order_by(groupings.c.id)
        .limit(1)
    )
    return db.execute(statement).scalar()


def issues_of(db: Connection, grouping_ids: Iterable[int]) -> dict[int, int]:
    """Return the issues that groupings lead to."""
    lead = select(groupings.c.id, groupings.c.issue_id)
    return {row.id: row.issue_id for row in rows.among(db, lead, groupings.c.id, set(grouping_ids))}


def lead_groupings(db: Connection, issue_ids: Sequence[int], target_id: int) -> None:
    """Let the groupings of issues lead to another issue, and remove the issues; nothing else refers to them yet."""
    rows.among(db, update(groupings).values(issue_id=target_id), groupings.c.issue_id, issue_ids)
    rows.among(db, delete(issues), issues.c.id, issue_ids)
