"""Learning while a batch is stored: new templates are looked at, and issues that belong together become one.

One transaction at a time learns, the one that stores the events, in a savepoint: learning never stops storing. When it
fails, halving finds the templates that it fails for. They keep the issue of the first stage and wait in
`learned_later`: tried again one by one, after times that double up to a day, by another version, and by a reindex.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, times
from snaglist.kernel.database import ends_transaction
from snaglist.plugins.issues.learning import queries
from snaglist.plugins.issues.learning.evidence import Member
from snaglist.plugins.issues.learning.model import Node, learn
from snaglist.plugins.issues.learning.slots import template_digest
from snaglist.plugins.issues.merging import merge_issues, show_newest
from snaglist.plugins.issues.noting import note_failure

NOTE = "Learned that they differ in a value only"
# What failed is tried again after a while that doubles each time, by a batch that learns anyway, a few at once.
AT_ONCE = 10
FIRST_WAIT_SECONDS = 60
LONGEST_WAIT_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class NewGrouping:
    """A grouping to learn from; texts as the database takes them. Looking at it failed `tries` times."""

    id: int
    context: str
    template: str
    tries: int = 0


def learn_groupings(call: Call, made: Sequence[NewGrouping], fresh: Collection[int]) -> bool:
    """Learn from groupings in the open write transaction; True when some lead to other issues now.

    `fresh` are the issues made for them just now: nobody knows those, so they are joined without a trace. A template
    that cannot be looked at keeps the issue of its own and is tried again later, as are some that failed before.
    """
    if not made:
        return False
    queries.take_turn(call.db, call.now)
    due = [_put_off_before(row) for row in queries.due(call.db, call.now, call.service.version, AT_ONCE)]
    changed = [_learn_or_put_off(call, made, fresh), *(_learn_or_put_off(call, [grouping], fresh) for grouping in due)]
    return any(changed)


def learn_again(call: Call, grouping_id: int = 0) -> int:
    """Look again at some groupings that could not be learned, behind an id, in the open write transaction.

    Returns the id of the last one, 0 when none is left.
    """
    found = [_put_off_before(row) for row in queries.put_off_behind(call.db, grouping_id, AT_ONCE)]
    if not found:
        return 0
    queries.take_turn(call.db, call.now)
    for grouping in found:
        _learn_or_put_off(call, [grouping], ())
    return found[-1].id


def _put_off_before(row: Row[Any, Any, Any, Any, Any]) -> NewGrouping:
    template = row.parts["template"]
    return NewGrouping(row.id, row.key.removesuffix(template), template, row.tries)


def _learn_or_put_off(call: Call, groupings: Sequence[NewGrouping], fresh: Collection[int]) -> bool:
    """Learn what can be learned; halving finds the templates that cannot."""
    try:
        with call.db.begin_nested():
            changed = _learn(call, groupings, fresh)
            for grouping in groupings:
                if grouping.tries:
                    queries.forget_later(call.db, grouping.id)
            return changed
    except Exception as error:
        if ends_transaction(error):
            raise
        if len(groupings) == 1:
            _put_off(call, groupings[0], error)
            return False
    half = len(groupings) // 2
    changes = [_learn_or_put_off(call, some, fresh) for some in (groupings[:half], groupings[half:])]
    return any(changes)


def _put_off(call: Call, grouping: NewGrouping, error: Exception) -> None:
    note_failure("learning", error, f"the template {template_digest(grouping.context, grouping.template)}")
    wait = min(FIRST_WAIT_SECONDS << min(grouping.tries, 20), LONGEST_WAIT_SECONDS)
    row = {
        "grouping_id": grouping.id,
        "tries": grouping.tries + 1,
        "due_at": times.add(call.now, seconds=wait),
        "version": call.service.version[:40],
    }
    queries.put_off(call.db, row)


def _learn(call: Call, groupings: Sequence[NewGrouping], fresh: Collection[int]) -> bool:
    store = DatabaseStore(call.db)
    learn(store, store.add([(grouping.id, (grouping.context, grouping.template)) for grouping in groupings]))
    parts = store.parts()
    issue_ids = queries.issues_of(call.db, (grouping_id for part in parts for grouping_id in part))
    changed = False
    for together in sorted(_together(parts, issue_ids), key=min):
        _merge(call, together, fresh)
        changed = True
    return changed


def _together(parts: Sequence[Collection[int]], issue_ids: Mapping[int, int]) -> list[set[int]]:
    """Return the sets of issues that are to be one."""
    forest = Forest()
    for part in parts:
        first, *others = sorted({issue_ids[grouping_id] for grouping_id in part if grouping_id in issue_ids})
        for other in others:
            forest.join(first, other)
    return forest.parts()


def _merge(call: Call, issue_ids: Collection[int], fresh: Collection[int]) -> None:
    known = sorted(set(issue_ids) - set(fresh))
    target = min(known or issue_ids)
    new = sorted(set(issue_ids).intersection(fresh) - {target})
    if new:
        queries.lead_groupings(call.db, new, target)
        show_newest(call.db, [target])
    if len(known) > 1:
        merge_issues(call, known, target, learned=NOTE)


def set_apart(db: Connection, issue_id: int, grouping_id: int, now: str, actor: str | None) -> None:
    """Remember that people took a grouping out of an issue: learning joins it with nothing any more."""
    queries.set_apart(db, grouping_id, now, actor)
    other_id = queries.joined_grouping(db, issue_id, but=grouping_id)
    if other_id is not None:
        queries.lead_slots(db, grouping_id, other_id)


class Forest:
    """Sets of numbers that belong together."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def join(self, one: int, other: int) -> None:
        """Join the sets of two numbers."""
        first, second = sorted((self._root(one), self._root(other)))
        self._parents[second] = first

    def parts(self) -> list[set[int]]:
        """Return the sets of more than one."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for number in self._parents:
            found[self._root(number)].add(number)
        return [part for part in found.values() if len(part) > 1]

    def _root(self, number: int) -> int:
        self._parents.setdefault(number, number)
        while (parent := self._parents[number]) != number:
            self._parents[number] = self._parents[parent]
            number = parent
        return number


class DatabaseStore:
    """The store of the model in an application's database.

    What belongs together is collected by grouping. Groupings that people took apart take part in the evidence, but
    nothing is joined through them.
    """

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._leads_to: dict[int, int] = {}
        self._joined: list[tuple[int, int]] = []

    def add(self, groupings: Sequence[tuple[int, tuple[str, str]]]) -> list[Node]:
        """Keep the templates of new groupings, and return their nodes."""
        rows = [
            {
                "digest": template_digest(context, template),
                "role": queries.EVENTS,
                "context": context,
                "template": template,
                "grouping_id": grouping_id,
            }
            for grouping_id, (context, template) in groupings
        ]
        rows.sort(key=lambda row: str(row["digest"]))
        queries.add_nodes(self._db, rows)
        ours = {row["grouping_id"] for row in rows}
        found = self._note(queries.nodes(self._db, [str(row["digest"]) for row in rows], queries.EVENTS))
        return [Node(row.id, row.context, row.template, opened=False) for row in found if row.grouping_id in ours]

    def parts(self) -> list[set[int]]:
        """Return the sets of groupings that belong together."""
        apart = queries.apart(self._db, {self._leads_to[node] for pair in self._joined for node in pair})
        forest = Forest()
        for slot, node in self._joined:
            grouping_id = self._leads_to[node]
            if grouping_id in apart:
                continue
            if self._leads_to[slot] in apart:  # all that had the slot so far were taken apart
                queries.lead_slots(self._db, self._leads_to[slot], grouping_id)
                self._leads_to[slot] = grouping_id
            forest.join(self._leads_to[slot], grouping_id)
        return forest.parts()

    def opened(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of those slots that are open."""
        return {row.digest: row.id for row in self._note(queries.nodes(self._db, digests, queries.OPEN))}

    def templates(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of templates that came from events."""
        return {row.digest: row.id for row in self._note(queries.nodes(self._db, digests, queries.EVENTS))}

    def members(self, digests: Collection[str]) -> Mapping[str, Sequence[Member]]:
        """Return the members of slots."""
        found, leads_to = queries.members(self._db, digests)
        self._leads_to.update(leads_to)
        return found

    def nodes(self, ids: Collection[int]) -> Sequence[Node]:
        """Return the nodes with these ids."""
        found = self._note(queries.nodes_with_ids(self._db, ids))
        return [Node(row.id, row.context, row.template, row.role == queries.OPEN) for row in found]

    def add_members(self, rows: Sequence[tuple[str, Member]]) -> None:
        """Keep members of slots."""
        queries.add_members(self._db, rows)

    def open(self, digest: str, context: str, template: str, member: int) -> int:
        """Make the node of a slot that is open from now on."""
        grouping_id = self._leads_to[member]
        row = {
            "digest": digest,
            "role": queries.OPEN,
            "context": context,
            "template": template,
            "grouping_id": grouping_id,
        }
        node = queries.add_node(self._db, row)
        self._leads_to[node] = grouping_id
        return node

    def join(self, node: int, other: int) -> None:
        """Note that a node has an open slot."""
        self._joined.append((node, other))

    def _note(self, rows: list[queries.NodeRow]) -> list[queries.NodeRow]:
        self._leads_to.update((row.id, row.grouping_id) for row in rows)
        return rows
