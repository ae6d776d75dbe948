"""What logs add to the search for issues: the files and channels that events came from."""

from sqlalchemy import ColumnElement, and_, or_, select

from snaglist.kernel import Call, Invalid, digest, key
from snaglist.plugins.issues import OTHER, Condition, SearchField, show_path, stored
from snaglist.plugins.logs.tables import sources as _sources

MAX_FILES = 5_000
_facets = stored.facets


def _from_source(call: Call, value: str) -> Condition:
    channel = and_(_facets.facet == "channel", _facets.value_hash == digest(value))
    files = _files(call, "source", value)
    return _with(channel) if files is None else _with(or_(channel, files))


def _in_path(call: Call, value: str) -> Condition | None:
    files = _files(call, "q", value)
    return None if files is None else _with(files)


def _with(facet: ColumnElement[bool]) -> Condition:
    return select(_facets.issue_id).where(facet)


def _files(call: Call, word: str, value: str) -> ColumnElement[bool] | None:
    """Test for facets of files whose path, as this actor sees it, holds the text; None when there are none.

    Paths are folded here, so that all databases agree; the shorter of the two lists, the matching
    files or the others, goes to the database.
    """
    wanted = key(value)
    matching: list[str] = []
    others = [digest(OTHER)]
    for path, path_hash in call.db.execute(select(_sources.c.path, _sources.c.path_hash).distinct()):
        # What is shown is always the end of the path, so the dearer second test is rarely needed.
        matches = wanted in key(path) and wanted in key(show_path(call, path))
        (matching if matches else others).append(path_hash)
    if not matching:
        return None
    if min(len(matching), len(others)) > MAX_FILES:
        raise Invalid(f"{word}: the text is in the names of more than {MAX_FILES} files; give more of it")
    column = _facets.value_hash
    listed = column.in_(matching) if len(matching) <= len(others) else column.not_in(others)
    return and_(_facets.facet == "source", listed)


FIELD = SearchField(
    "source",
    _from_source,
    {"title": "Exact channel, or part of a source path, of any event", "type": "string", "maxLength": 500},
    text=_in_path,
    indexed=True,
)
