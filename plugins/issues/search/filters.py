"""The filters of `errors` and `groups`: each parameter of the query becomes one condition."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, exists, false, func, not_, or_, select, true

from snaglist.kernel import Call, Invalid, digest, key
from snaglist.kernel.database import contains
from snaglist.plugins.issues.events import RANK
from snaglist.plugins.issues.facets import OTHER
from snaglist.plugins.issues.search.conditions import Condition, has_facet, is_facet, linked, one_of, unindexed
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.stored_paths import show_path
from snaglist.plugins.issues.tables import (
    issue_facets,
    issue_samples,
    issue_tags,
    issues,
    modules,
    sources,
    tags,
)

NONE = "none"
MAX_FILES = 5_000
_MAX_ID = 9_223_372_036_854_775_807
_NOTHING = Condition(false(), false(), select(issues.c.id).where(false()))


def conditions(call: Call, query: Mapping[str, Any], scope: Scope) -> list[Condition]:
    """Return the conditions of a prepared query; an issue must pass all."""
    found = [read(call, query[name]) for name, read in _FILTERS.items() if query.get(name) not in (None, [])]
    return [*found, *_within(scope)]


def asked(query: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the filters in a form that is equal for equal filters: what a cursor is bound to."""
    given = {name: query[name] for name in _FILTERS if query.get(name) not in (None, [])}
    sets = {name: sorted(set(value)) if isinstance(value, list) else value for name, value in given.items()}
    return {**sets, "range": [scope.start, scope.end]}


def _severity(_: Call, values: Sequence[str]) -> Condition:
    ranked = one_of(issues.c.severity_rank, [RANK[value] for value in values])
    return Condition(ranked.test, ranked.lead, ranked.found, totals=("severity", frozenset(values)))


def _status(_: Call, values: Sequence[str]) -> Condition:
    found = one_of(issues.c.status, values)
    return Condition(found.test, found.lead, found.found, totals=("status", frozenset(values)))


def _log_type(_: Call, values: Sequence[str]) -> Condition:
    found = one_of(issues.c.log_type, values)
    return Condition(found.test, found.lead, found.found, totals=("log_type", frozenset(values)))


def _tag(call: Call, values: Sequence[str]) -> Condition:
    ids = _tag_ids(call, [value for value in values if value != NONE])
    tagged = linked(issue_tags, issue_tags.c.tag_id.in_(ids), twice=len(ids) > 1) if ids else _NOTHING
    if NONE not in values:
        return tagged
    return Condition(or_(not_(exists().where(issue_tags.c.issue_id == issues.c.id).correlate(issues)), tagged.test))


def _tag_ids(call: Call, values: Sequence[str]) -> Sequence[int]:
    if not values:
        return []
    named = tags.c.name_key.in_([key(value) for value in values])
    numbered = tags.c.id.in_([number for number in map(_number, values) if number])
    return call.db.execute(select(tags.c.id).where(or_(named, numbered)).order_by(tags.c.id)).scalars().all()


def _module(call: Call, value: str) -> Condition:
    if value == NONE:
        return Condition(unindexed(issues.c.module_id).is_(None))
    named = or_(modules.c.slug == value, modules.c.name_key == key(value), modules.c.id == (_number(value) or 0))
    ids = call.db.execute(select(modules.c.id).where(named)).scalars().all()
    return one_of(issues.c.module_id, ids) if ids else _NOTHING


def _number(text: str) -> int | None:
    """Return the id that a text may be."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 19:
        return None
    return int(text) if int(text) <= _MAX_ID else None


def _assignee(call: Call, value: str) -> Condition:
    if value == NONE:
        return Condition(and_(unindexed(issues.c.assigned_to_id).is_(None), issues.c.assignee.is_(None)))
    wanted = key(value)
    assigned = select(issues.c.assigned_to_id).where(issues.c.assigned_to_id.is_not(None)).distinct()
    mirrored = select(issues.c.assignee).where(issues.c.assignee.is_not(None))
    # People are few, so folding their distinct names here keeps the databases from folding differently.
    ids = [name for name in call.db.execute(assigned).scalars() if key(name) == wanted]
    names = [name for name in call.db.execute(mirrored.distinct()).scalars() if key(name) == wanted]
    if not ids and not names:
        return _NOTHING
    lead = or_(issues.c.assigned_to_id.in_(ids), issues.c.assignee.in_(names))
    test = or_(unindexed(issues.c.assigned_to_id).in_(ids), unindexed(issues.c.assignee).in_(names))
    return Condition(test, lead, select(issues.c.id).where(lead))


def _has_stack(_: Call, wanted: bool) -> Condition:
    stored = (
        exists().where(issue_samples.c.issue_id == issues.c.id, issue_samples.c.stack.is_not(None)).correlate(issues)
    )
    return Condition(stored if wanted else not_(stored))


def _snoozed(call: Call, wanted: bool) -> Condition:
    until, events = func.coalesce(issues.c.snoozed_until, ""), func.coalesce(issues.c.snooze_count, 0)
    if not wanted:
        return Condition(and_(until <= call.now, events <= 0))
    lead = or_(issues.c.snoozed_until > call.now, issues.c.snooze_count > 0)
    return Condition(or_(until > call.now, events > 0), lead, select(issues.c.id).where(lead))


def _source(call: Call, value: str) -> Condition:
    channel = and_(is_facet("channel"), issue_facets.c.value_hash == digest(value))
    files = _files(call, "source", value)
    if files is None:
        return linked(issue_facets, channel, twice=False)
    return linked(issue_facets, or_(channel, files.find), or_(channel, files.test), twice=True)


def _text(call: Call, value: str) -> Condition:
    wanted = key(value)
    tests = [contains(issues.c.search_text, wanted)]
    named = call.db.execute(select(modules.c.id).where(contains(modules.c.name_key, wanted))).scalars().all()
    if named:
        tests.append(unindexed(issues.c.module_id).in_(named))
    files = _files(call, "q", value)
    if files is not None:
        tests.append(linked(issue_facets, files.find, files.test, twice=True).test)
    return Condition(or_(*tests))


class _Files(NamedTuple):
    """Tests of a row of `issue_facets` for certain files: one to find rows by, one for rows at hand."""

    find: ColumnElement[bool]
    test: ColumnElement[bool]


def _files(call: Call, field: str, value: str) -> _Files | None:
    """Test for sources whose path, as this actor sees it, holds the text; None when there are none.

    Paths are folded here, so that all databases agree; the shorter of the two lists, the matching
    files or the others, goes to the database.
    """
    wanted = key(value)
    matching: list[str] = []
    others = [digest(OTHER)]
    for path, path_hash in call.db.execute(select(sources.c.path, sources.c.path_hash).distinct()):
        # What is shown is always the end of the path, so the dearer second test is rarely needed.
        matches = wanted in key(path) and wanted in key(show_path(call, path))
        (matching if matches else others).append(path_hash)
    if not matching:
        return None
    if min(len(matching), len(others)) > MAX_FILES:
        raise Invalid(f"{field}: the text is in the names of more than {MAX_FILES} files; give more of it")

    def listed(column: ColumnElement[str]) -> ColumnElement[bool]:
        is_one = column.in_(matching) if len(matching) <= len(others) else column.not_in(others)
        return and_(is_facet("source"), is_one)

    return _Files(listed(issue_facets.c.value_hash), listed(unindexed(issue_facets.c.value_hash)))


def _within(scope: Scope) -> list[Condition]:
    """Return the test of the scope, with the ways to find its issues: from its edge, and by its hours."""
    if not scope:
        return []
    last, first = issues.c.last_seen, issues.c.first_seen
    edge = last >= scope.start if scope.start is not None else first < scope.end
    found = [
        Condition(
            scope.matches(unindexed(last), unindexed(first)),
            scope.matches(last, first),
            select(issues.c.id).where(edge),
            edge=True,
        )
    ]
    if scope.start is not None and scope.end is not None:
        # A day long ago: nearly all issues were seen later, but few had events in these hours.
        ids = scope.candidates()
        found.append(Condition(true(), issues.c.id.in_(ids), ids, edge=True))
    return found


_FILTERS: dict[str, Callable[[Call, Any], Condition]] = {
    "severity": _severity,
    "status": _status,
    "log_type": _log_type,
    "origin": lambda _, values: one_of(issues.c.origin, values),
    "kind": lambda _, values: one_of(issues.c.kind, values),
    "tag": _tag,
    "module": _module,
    "source": _source,
    "environment": lambda _, value: has_facet("environment", value),
    "release": lambda _, value: has_facet("release", value),
    "assignee": _assignee,
    "has_stack": _has_stack,
    "snoozed": _snoozed,
    "q": _text,
}
