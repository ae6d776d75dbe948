"""What an issue page says about learning: which words are values, and which issues may belong to this one."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from sqlalchemy import Connection

from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.learning import queries
from snaglist.plugins.issues.learning.evidence import is_suggested
from snaglist.plugins.issues.learning.slots import Slot, slots, weight
from snaglist.plugins.issues.learning.words import ITEM

MAX_SUGGESTIONS = 20
_DEEPEST = 8


def learned_values(db: Connection, grouping_ids: Sequence[int]) -> Mapping[int, dict[str, Any]]:
    """Return, by grouping, the template that its issue has in common and the words that are values in it."""
    nodes = queries.nodes_of_groupings(db, grouping_ids)
    apart = queries.apart(db, grouping_ids)
    joined = [node for node in nodes if node.grouping_id not in apart]
    common = {node.id: node.template for node in joined}
    current = {node.id: [(node.context, node.template)] for node in joined}
    for _ in range(_DEEPEST):
        reached = _reached(db, current)
        for key, rows in reached.items():
            common[key] = min((common[key], *(row.template for row in rows)), key=_said)
        current = {key: [(row.context, row.template) for row in rows] for key, rows in reached.items()}
        if not current:
            break
    return {
        node.grouping_id: {"template": common[node.id], "values": _values(node.template, common[node.id])}
        for node in joined
        if common[node.id] != node.template
    }


def _reached(db: Connection, current: Mapping[int, Sequence[tuple[str, str]]]) -> Mapping[int, list[queries.NodeRow]]:
    """Return the open slots that templates have."""
    having = {key: [slot.digest for text in texts for slot in slots(*text)] for key, texts in current.items()}
    wanted = {digest for listed in having.values() for digest in listed}
    opened = {row.digest: row for row in queries.nodes(db, wanted, queries.OPEN)}
    found = {key: [opened[digest] for digest in listed if digest in opened] for key, listed in having.items()}
    return {key: rows for key, rows in found.items() if rows}


def suggestions(db: Connection, issue_id: int, grouping_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return the issues whose templates differ from this one's in a word that is not known to be a value."""
    nodes = queries.nodes_of_groupings(db, grouping_ids)
    mine: dict[str, tuple[queries.NodeRow, Slot]] = {}
    for node in nodes:
        for slot in slots(node.context, node.template):
            if len(slot.words) == 1:
                mine.setdefault(slot.digest, (node, slot))
    members, leads_to = queries.members(db, mine)
    weak = {
        digest: having for digest, having in members.items() if is_suggested(weight(mine[digest][1].template), having)
    }
    others = {leads_to[member.node] for having in weak.values() for member in having}
    apart = queries.apart(db, others.union(grouping_ids))
    issue_ids = queries.issues_of(db, others - apart)
    found: dict[int, dict[str, Any]] = {}
    for digest, having in sorted(weak.items(), key=lambda item: (-len(item[1]), item[0])):
        node, slot = mine[digest]
        if node.grouping_id in apart:
            continue
        for member in having:
            other = issue_ids.get(leads_to[member.node], issue_id)
            if other != issue_id:
                found.setdefault(other, {"grouping_id": node.grouping_id, "issue_id": other, "template": slot.template})
    return list(found.values())[:MAX_SUGGESTIONS]


def _said(template: str) -> tuple[int, str]:
    return len(template.replace(PLACEHOLDER, "")), template


def _values(template: str, common: str) -> list[dict[str, Any]]:
    own = list(ITEM.finditer(template))
    shared = [found[0] for found in ITEM.finditer(common)]
    # A full name is one value of several words, so the positions behind it differ.
    differences = SequenceMatcher(None, [found[0] for found in own], shared, autojunk=False).get_opcodes()
    values = []
    for tag, start, end, first, last in differences:
        if tag != "replace":
            continue
        ends = [*range(start + 1, start + last - first), end]
        for position, begin, stop in zip(range(first, last), range(start, end), ends, strict=False):
            if shared[position] == PLACEHOLDER:
                values.append({"position": position, "word": template[own[begin].start() : own[stop - 1].end()]})
    return values
