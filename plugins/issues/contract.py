"""What plugins add to issues: words to look for, columns of the list, tags, sources, and what they are told.

The issues area brings its own words in the same way.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, runtime_checkable

from jsonschema import Draft202012Validator
from sqlalchemy import ColumnElement, Connection, Select, Table

from snaglist.kernel import Call
from snaglist.plugins.issues.events import Event

RESERVED = frozenset(
    ("api", "app", "cursor", "date", "format", "from", "include_context", "include_stack", "limit", "page", "q")
) | frozenset(("range", "skip_vendor", "sort", "to", "view"))
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
Condition = ColumnElement[bool] | Select[int]


def _any_text() -> Mapping[str, Any]:
    return {"type": "string", "maxLength": 500}


@dataclass(frozen=True, slots=True)
class SearchField:
    """A word of the search: a parameter of `errors` and `groups`, and a field of the filter of `bulk-issues`.

    `condition(call, value)` returns a test of columns of `stored.issues`, or selects the ids of the issues meant from
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
    that it leaves out has `missing`, and so have all when it raises. `schema` is the JSON Schema of a value; it
    need not allow null as `missing`. The dashboard shows texts and numbers under the `heading`, and no column without
    one.
    """

    name: str
    values: Callable[[Call, Sequence[int]], Mapping[int, Any]]
    schema: Mapping[str, Any] = field(default_factory=dict)
    heading: str = ""
    missing: Any = None


@dataclass(frozen=True, slots=True)
class ShownStack:
    """An event whose stack is shown, its places resolved, and the module of its issue."""

    event: Event
    module_id: int | None


@runtime_checkable
class Tagging(Protocol):
    """The tags of issues, in the open transaction; registered as `tags` by the hook `register_tagging`."""

    def put_on(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Put a tag on issues by hand; returns those that exist. NotFound for an unknown tag."""

    def take_off(self, call: Call, issue_ids: Collection[int], tag_id: int) -> set[int]:
        """Take a tag off issues by hand; returns those that exist. NotFound for an unknown tag."""

    def shown(self, call: Call, issue_id: int) -> Sequence[dict[str, Any]]:
        """Return the tags of an issue by `key(name)`, each with how the issue got it."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What events came from, in the open transaction; registered as `sources` by the hook `register_sources`.

    `table` has the columns `id`, which `source_id` of an occurrence refers to, `path`, `log_type` and `channel`.
    `take_off(db, counts)` lowers the numbers of occurrences by source. `latest(call, limit)` returns those that were
    read last, as `summary` shows them.
    """

    table: Table
    take_off: Callable[[Connection, Mapping[int, int]], None]
    latest: Callable[[Call, int], Sequence[dict[str, Any]]]


@cache
def _shown() -> frozenset[str]:
    """Return the fields of a shown issue that are snaglist's own."""
    described = json.loads(files("snaglist.schemas").joinpath("definitions/issue.json").read_text(encoding="utf-8"))
    return frozenset(described["properties"]) | {"sample_message", "sample_stack", "sample_context"}


def check_added(hook: str, value: Any) -> None:
    """Look at a word or column that a plugin adds; raises for what does not fit."""
    if hook not in ("register_search_fields", "register_list_columns"):
        return
    name = value.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60}: the name must be like my_word, at most 40 characters")
    what = "condition" if isinstance(value, SearchField) else "values"
    if not callable(getattr(value, what)):
        raise TypeError(f"{name}: {what}: must be a function")
    if isinstance(value, SearchField) and name in RESERVED:
        raise ValueError(f"{name}: is a parameter of snaglist itself")
    if isinstance(value, SearchField) and not callable(value.text) and value.text is not None:
        raise TypeError(f"{name}: text: must be a function")
    if isinstance(value, ListColumn) and name in _shown():
        raise ValueError(f"{name}: is a field of snaglist itself")
    if isinstance(value, ListColumn) and not isinstance(value.heading, str):
        raise TypeError(f"{name}: heading: must be a text, not {value.heading!r:.60}")
    Draft202012Validator.check_schema(value.schema)
