"""What a search can look for and what its rows show: words and columns that areas and plugins add.

The issues area brings its own words in the same way.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from sqlalchemy import ColumnElement, Select, select

from snaglist.kernel import Call, digest
from snaglist.kernel.containment import contained
from snaglist.kernel.engines import ends_transaction
from snaglist.kernel.installation import Installation
from snaglist.plugins.issues.tables import issue_facets, issues

FIELDS, COLUMNS = "search field", "list column"
RESERVED = frozenset(
    ("api", "app", "cursor", "date", "format", "from", "include_context", "include_stack", "limit", "page", "q")
) | frozenset(("range", "skip_vendor", "sort", "to", "view"))
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
Condition = ColumnElement[bool] | Select[int]
log = logging.getLogger("snaglist")


def _any_text() -> Mapping[str, Any]:
    return {"type": "string", "maxLength": 500}


@dataclass(frozen=True, slots=True)
class SearchField:
    """A word of the search: a parameter of `errors` and `groups`, and a field of the filter of `bulk-issues`.

    `condition(call, value)` returns a test of a row of `tables.issues`, or selects the ids of the issues meant from
    another table, in an open transaction. What it raises ends the request. `schema` is the JSON Schema of a value, its
    `title` says what is found; where it is an array, the query takes values with commas. `text(call, text)` returns
    what a search by `q` finds besides, or None. `indexed`: an index finds the issues, so they are counted however many
    there are.
    """

    name: str
    condition: Callable[[Call, Any], Condition]
    schema: Mapping[str, Any] = field(default_factory=_any_text)
    text: Callable[[Call, str], Condition | None] | None = None
    indexed: bool = False


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A field of each issue that is shown, and a column of the dashboard's list.

    `values(call, issue_ids)` returns JSON values by issue id, for at most 500 issues, in an open transaction; an issue
    that it leaves out has `missing`, and so have all when it raises. `schema` is the JSON Schema of a value. The
    dashboard shows texts and numbers under the `heading`, and no column without one.
    """

    name: str
    values: Callable[[Call, Sequence[int]], Mapping[int, Any]]
    schema: Mapping[str, Any] = field(default_factory=dict)
    heading: str = ""
    missing: Any = None


def search_fields(call: Call) -> list[SearchField]:
    """Return the words of the areas, and of the plugins that are on in the application."""
    return [found for owner, found in _registered(call.service, FIELDS) if call.enabled(owner)]


def column_values(call: Call, issue_ids: Sequence[int]) -> Iterator[tuple[ListColumn, Mapping[int, Any]]]:
    """Give the columns of the areas, and of the plugins that are on in the application, with their values."""
    for owner, column in _registered(call.service, COLUMNS):
        plugin = call.service.plugins.find(owner)
        if plugin and plugin.core:
            yield column, column.values(call, issue_ids)
        elif call.enabled(owner):
            yield column, _values(call, owner, column, issue_ids)


def query_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all words by name."""
    return {found.name: {**found.schema, "x-plugin": owner} for owner, found in _registered(service, FIELDS)}


def filter_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all words in a body, where an empty list would be a filter for everything."""
    return {name: {**schema, "minItems": 1} for name, schema in query_schemas(service).items()}


def column_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all columns by name."""
    return {found.name: found.schema for _, found in _registered(service, COLUMNS)}


def as_test(condition: Condition) -> ColumnElement[bool]:
    """Return a condition as the test of a row of `tables.issues`."""
    if not isinstance(condition, Select):
        return condition
    (found,) = condition.selected_columns
    return condition.where(found == issues.c.id).correlate(issues).exists()


def has_facet(facet: str, value: str) -> Select[int]:
    """Select the ids of the issues of which an event had exactly this value of the facet."""
    return select(issue_facets.c.issue_id).where(
        issue_facets.c.facet == facet, issue_facets.c.value_hash == digest(value)
    )


def _values(call: Call, owner: str, column: ListColumn, issue_ids: Sequence[int]) -> Mapping[int, Any]:
    try:
        with call.savepoint():
            values = dict(contained(column.values, call, issue_ids))
            json.dumps(values, allow_nan=False)
            return values
    except Exception as error:
        if ends_transaction(error):
            raise
        log.exception("column %s of plugin %s failed", column.name, owner)
        return {}


def _registered(service: Installation, kind: str) -> list[tuple[str, Any]]:
    """Return what was registered, each with the id of its plugin."""
    found = service.plugins.types(kind, _check_field if kind == FIELDS else _check_column)
    return [(service.plugins.owner(kind, name), value) for name, value in found.items()]


def _check_field(name: str, value: Any) -> None:
    if not isinstance(value, SearchField) or not callable(value.condition):
        raise TypeError(f"{name}: must be a SearchField with the function condition, not {value!r:.60}")
    _check(name, value)
    if name in RESERVED:
        raise ValueError(f"{name}: is a parameter of snaglist itself")


def _check_column(name: str, value: Any) -> None:
    if not isinstance(value, ListColumn) or not callable(value.values):
        raise TypeError(f"{name}: must be a ListColumn with the function values, not {value!r:.60}")
    _check(name, value)


def _check(name: str, value: SearchField | ListColumn) -> None:
    if name != value.name or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60}: the name must be like my_word, at most 40 characters")
    Draft202012Validator.check_schema(value.schema)
