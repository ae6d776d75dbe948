"""What a search can look for and what its rows show: the words and columns of areas and plugins."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, select

from snaglist.kernel import Call, Installation, digest
from snaglist.kernel.containment import contained
from snaglist.kernel.database import ends_transaction
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.contract import Condition, ListColumn, SearchField
from snaglist.plugins.issues.tables import issue_facets, issues

log = logging.getLogger("snaglist")


def search_fields(call: Call) -> list[SearchField]:
    """Return the words of the areas, and of the plugins that are on in the application."""
    added = call.service.plugins.added(hookspecs.register_search_fields)
    return [found for plugin, found in added if call.enabled(plugin.id)]


def column_values(call: Call, issue_ids: Sequence[int]) -> Iterator[tuple[ListColumn, Mapping[int, Any]]]:
    """Give the columns of the areas, and of the plugins that are on in the application, with their values."""
    for plugin, column in call.service.plugins.added(hookspecs.register_list_columns):
        if plugin.core:
            yield column, column.values(call, issue_ids)
        elif call.enabled(plugin.id):
            yield column, _values(call, plugin.id, column, issue_ids)


def headings(call: Call) -> list[dict[str, str]]:
    """Return the columns that the dashboard's list draws, with what stands over them."""
    added = call.service.plugins.added(hookspecs.register_list_columns)
    shown = [column for plugin, column in added if column.heading and call.enabled(plugin.id)]
    return [{"name": column.name, "heading": column.heading} for column in shown]


def added_words(call: Call) -> list[dict[str, Any]]:
    """Return the words of plugins that the dashboard's search field takes, and whether several values of each."""
    added = call.service.plugins.added(hookspecs.register_search_fields)
    mine = [word for plugin, word in added if not plugin.core and call.enabled(plugin.id)]
    return [{"name": word.name, "many": word.schema.get("type") == "array"} for word in mine]


def query_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all words by name."""
    added = service.plugins.added(hookspecs.register_search_fields)
    return {found.name: {**found.schema, "x-plugin": plugin.id} for plugin, found in added}


def filter_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all words in a body, where an empty list would be a filter for everything."""
    return {name: {**schema, "minItems": 1} for name, schema in query_schemas(service).items()}


def column_schemas(service: Installation) -> dict[str, Any]:
    """Return the schemas of all columns by name."""
    added = service.plugins.added(hookspecs.register_list_columns)
    return {column.name: _with_missing(column) for _, column in added}


def _with_missing(column: ListColumn) -> Mapping[str, Any]:
    return column.schema if column.missing is not None else {"anyOf": [column.schema, {"type": "null"}]}


def as_test(condition: Condition) -> ColumnElement[bool]:
    """Return a condition as the test of a row of issues."""
    if not isinstance(condition, Select):
        return condition
    (found,) = condition.selected_columns
    return condition.where(found == issues.c.id).correlate(issues).exists()


def has_facet(facet: str, value: str) -> Select[int]:
    """Select the ids of the issues of which an event had exactly this value of the facet."""
    return select(issue_facets.c.issue_id).where(
        issue_facets.c.facet == facet, issue_facets.c.value_hash == digest(value)
    )


def text_conditions(call: Call, value: str) -> list[ColumnElement[bool]]:
    """Return what the areas and plugins find by a text of the search: one that fails finds nothing."""
    found: list[ColumnElement[bool]] = []
    for plugin, word in call.service.plugins.added(hookspecs.register_search_fields):
        if word.text is None or not call.enabled(plugin.id):
            continue
        test = word.text(call, value) if plugin.core else _text(call, plugin.id, word, value)
        if test is not None:
            found.append(as_test(test))
    return found


def _text(call: Call, owner: str, word: SearchField, value: str) -> Condition | None:
    assert word.text is not None
    try:
        with call.savepoint():
            found = contained(word.text, call, value)
        if found is not None and not isinstance(found, ColumnElement | Select):
            raise TypeError(f"must be a condition of SQLAlchemy or None, not {found!r}")
        return found
    except Exception as error:
        if ends_transaction(error):
            raise
        log.exception("search word %s of plugin %s failed", word.name, owner)
        return None


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
