"""One filter of a search as SQL, and how many rows an index finds for it.

A filter is written twice: `test` decides on a row that is at hand, `lead` finds the rows through an
index. Only the narrowest filter of a search leads, if it is narrow enough (`queries.py`). SQLite has
no statistics to choose this by itself: it picks a filter that nearly every row passes, then sorts
the whole table.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, Table, and_, exists, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from snaglist.kernel import digest
from snaglist.plugins.issues.tables import issue_facets, issues


class unindexed(FunctionElement[Any]):
    """A column that SQLite may not look up through an index here; other databases decide themselves."""

    inherit_cache = True
    name = "unindexed"

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(unindexed)
def _plain(element: unindexed, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(unindexed, "sqlite")
def _without_index(element: unindexed, compiler: SQLCompiler, **options: Any) -> str:
    return "+" + compiler.process(element.clauses, **options)


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter.

    `found` selects the ids that `lead` finds through an index: of the issues that pass, each once. With `edge`
    there may be more of them, some twice. `cheap`: however many there are, the index alone counts them.
    `totals` names a column of `issue_totals` and the accepted values: then no row is counted.
    """

    test: ColumnElement[bool]
    lead: ColumnElement[bool] | None = None
    found: Select[Any] | None = None
    cheap: bool = True
    edge: bool = False
    totals: tuple[str, frozenset[str]] | None = None


def one_of(column: Column[Any], values: Collection[Any]) -> Condition:
    """The indexed column has one of the values."""
    lead = column.in_(values)
    return Condition(unindexed(column).in_(values), lead, select(issues.c.id).where(lead))


def linked(
    table: Table, find: ColumnElement[bool], test: ColumnElement[bool] | None = None, *, twice: bool
) -> Condition:
    """A row of the table belongs to the issue and passes `find`; `twice`: several rows of one issue may.

    `test` says the same as `find` about the rows of one issue, where that takes another form.
    """
    found = select(table.c.issue_id).where(find)
    mine = exists().where(table.c.issue_id == issues.c.id, find if test is None else test).correlate(issues)
    return Condition(mine, issues.c.id.in_(found), found.distinct() if twice else found, cheap=not twice)


def has_facet(facet: str, value: str) -> Condition:
    """An event of the issue had exactly this value."""
    return linked(issue_facets, and_(is_facet(facet), issue_facets.c.value_hash == digest(value)), twice=False)


def is_facet(facet: str) -> ColumnElement[bool]:
    """The row of `issue_facets` is about this facet."""
    return issue_facets.c.facet == facet
