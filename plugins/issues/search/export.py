"""The list of issues as a file: `format=csv` and `format=ndjson`."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from snaglist.kernel import Call, Reply
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.search import queries
from snaglist.plugins.issues.search.listing import BATCH, Listing, show

_COLUMNS = (
    "id",
    "title",
    "severity",
    "status",
    "count",
    "first_seen",
    "last_seen",
    "environment",
    "log_type",
    "channel",
    "module_name",
    "exception_class",
    "source_frame",
    "assigned_to_label",
    "tags",
    "external_url",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets evaluate
TYPES = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}

Issues = Iterable[Mapping[str, Any]]


def export(call: Call, listing: Listing, form: str) -> Reply:
    """Return a streamed reply; needs an open transaction, in which the order of the whole list is fixed."""
    ids = queries.every_id(call.db, listing.where, listing.sort)
    write: Callable[[Issues], bytes] = _csv if form == "csv" else _ndjson

    def body() -> Iterator[bytes]:
        if form == "csv":
            yield line(_COLUMNS)
        for some in chunks(ids, BATCH):
            with call.transaction(write=False):
                found = show(call, listing, some)
            yield write(found)

    name = f"issues-{call.application.id}-{call.now[:10].replace('-', '')}.{form}"
    return Reply(body(), headers={"Content-Disposition": f'attachment; filename="{name}"'}, content_type=TYPES[form])


def _csv(issues: Issues) -> bytes:
    return b"".join(line(_cell(issue, column) for column in _COLUMNS) for issue in issues)


def _cell(issue: Mapping[str, Any], column: str) -> Any:
    return cell("; ".join(tag["name"] for tag in issue["tags"]) if column == "tags" else issue[column])


def cell(value: Any) -> Any:
    """Return a value as spreadsheets take it for one, and not for something to compute."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def line(cells: Iterable[Any]) -> bytes:
    """Return a line of CSV (RFC 4180)."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()


def _ndjson(issues: Issues) -> bytes:
    return b"".join(json.dumps(issue, ensure_ascii=False).encode() + b"\n" for issue in issues)
