"""The words of the search that the issues area brings, and the condition of a whole query."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, FromClause, and_, false, func, not_, or_, select

from snaglist.kernel import Call, key
from snaglist.kernel.database import contains
from snaglist.plugins.issues.contract import Condition, SearchField
from snaglist.plugins.issues.events import RANK
from snaglist.plugins.issues.ids import as_id
from snaglist.plugins.issues.search.fields import as_test, has_facet, search_fields
from snaglist.plugins.issues.search.finding import Searched, search
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.tables import issue_samples, issues, modules

_found = issues.alias("found")
NONE = "none"  # the value that finds what has no tag, module or person


def given(call: Call, query: Mapping[str, Any]) -> list[tuple[SearchField, Any]]:
    """Return the words of a prepared query with their values."""
    return [(word, query[word.name]) for word in search_fields(call) if query.get(word.name) not in (None, [])]


def conditions(call: Call, query: Mapping[str, Any], scope: Scope, searched: Searched | None = None) -> list[Condition]:
    """Return what an issue must pass; needs an open transaction.

    `searched` is what the text of the query finds, where the caller has looked already.
    """
    found: list[Condition] = [word.condition(call, value) for word, value in given(call, query)]
    if query.get("q"):
        found += (searched or search(call, query["q"], scope)).conditions
    return [*found, *([scope.matches()] if scope else [])]


def asked(call: Call, query: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the filters in a form that is equal for equal filters: what a cursor is bound to."""
    sets = {word.name: sorted(set(value)) if isinstance(value, list) else value for word, value in given(call, query)}
    return {**sets, **({"q": query["q"]} if query.get("q") else {}), "range": [scope.start, scope.end]}


def _one_of(column: Column[Any]) -> Any:
    return lambda _, values: column.in_(values)


def _by_index(call: Call, test: Callable[[FromClause], ColumnElement[bool]]) -> Condition:
    """Return a test that few issues pass; SQLite follows its index among other tests only where it selects ids."""
    return select(_found.c.id).where(test(_found)) if call.db.dialect.name == "sqlite" else test(issues)


def _severity(_: Call, values: Sequence[str]) -> ColumnElement[bool]:
    return issues.c.severity_rank.in_([RANK[value] for value in values])


def _module(call: Call, value: str) -> Condition:
    if value == NONE:
        return issues.c.module_id.is_(None)
    named = or_(modules.c.slug == value, modules.c.name_key == key(value), modules.c.id == (as_id(value) or 0))
    ids = call.db.execute(select(modules.c.id).where(named)).scalars().all()
    return _by_index(call, lambda table: table.c.module_id.in_(ids))


def _module_named(call: Call, value: str) -> Condition | None:
    named = call.db.execute(select(modules.c.id).where(contains(modules.c.name_key, key(value)))).scalars().all()
    return issues.c.module_id.in_(named) if named else None


def _assignee(call: Call, value: str) -> Condition:
    if value == NONE:
        return func.coalesce(issues.c.assigned_to_id, issues.c.assignee).is_(None)
    # People are few, so folding their distinct names here keeps the databases from folding differently.
    named: dict[str, list[str]] = {}
    for column in (issues.c.assigned_to_id, issues.c.assignee):
        people = call.db.execute(select(column).where(column.is_not(None)).distinct()).scalars()
        named[column.name] = [person for person in people if key(person) == key(value)]
    return _by_index(
        call, lambda table: or_(false(), *(table.c[name].in_(some) for name, some in named.items() if some))
    )


def _has_stack(_: Call, wanted: bool) -> Condition:
    stored = select(issue_samples.c.issue_id).where(issue_samples.c.stack.is_not(None))
    return stored if wanted else not_(as_test(stored))


def _snoozed(call: Call, wanted: bool) -> Condition:
    if wanted:
        return _by_index(call, lambda table: or_(table.c.snoozed_until > call.now, table.c.snooze_count > 0))
    until, events = func.coalesce(issues.c.snoozed_until, ""), func.coalesce(issues.c.snooze_count, 0)
    return and_(until <= call.now, events <= 0)


def _word(name: str, condition: Any, **more: Any) -> SearchField:
    return SearchField(name, condition, {"$ref": f"/definitions/search.json#/$defs/{name}"}, **more)


FIELDS = (
    _word("severity", _severity),
    _word("status", _one_of(issues.c.status)),
    _word("origin", _one_of(issues.c.origin), indexed=True),
    _word("kind", _one_of(issues.c.kind), indexed=True),
    _word("log_type", _one_of(issues.c.log_type)),
    _word("module", _module, text=_module_named, indexed=True),
    # What issues count of their events themselves, whichever plugins are on.
    _word("environment", lambda _, value: has_facet("environment", value), indexed=True),
    _word("release", lambda _, value: has_facet("release", value), indexed=True),
    _word("user", lambda _, value: has_facet("user", value), indexed=True),
    _word("host", lambda _, value: has_facet("host", value), indexed=True),
    _word("assignee", _assignee, indexed=True),
    _word("has_stack", _has_stack),
    _word("snoozed", _snoozed, indexed=True),
)
