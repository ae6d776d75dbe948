"""The endpoints of the logs area: HTTP in, HTTP out."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Endpoint, Invalid, Reply, own, read, times, write
from snaglist.plugins.issues import show_path
from snaglist.plugins.logs import ingestion
from snaglist.plugins.logs.read.tally import WARNING, Tally
from snaglist.plugins.logs.show import raw_text
from snaglist.plugins.logs.store import activity, coverage, deletions, queries
from snaglist.plugins.logs.tables import sources
from snaglist.plugins.system import job_reply, rows

IMPORT = "import"
MAX_WARNED = 20
WARNED_DAYS = 7  # a log that was read longer ago is nobody's concern any more

_FILE_FIELDS = (
    "id", "path", "size", "modified_at", "imported_at", "log_type", "channel", "occurrence_count",
    "module_id", "module_name", "module_slug", "module_color", "connector_id",
    "offset", "encoding", "timezone", "status", "last_error",
)  # fmt: skip


def list_sources(call: Call) -> Mapping[str, Any]:
    """List sources, the newest import first; when asked for, with what came lately out of each."""
    page, meta = rows.page(call, queries.newest_first(), sources)
    ids = [row.id for row in page]
    deleted = deletions.numbers_of(call.db, ids)
    lately = activity.of_sources(call.db, ids, call.now) if call.query["activity"] else {}
    data = [{**_file(call, row), "deleted": deleted.get(row.id, 0), "activity": lately.get(row.id)} for row in page]
    return {"data": data, "meta": meta}


def latest_files(call: Call, limit: int) -> list[dict[str, Any]]:
    """Return the sources that were read last."""
    return [_file(call, row) for row in call.db.execute(queries.newest_first().limit(limit))]


def reading_warnings(call: Call) -> list[str]:
    """Return a line for each source of the last days of whose entries none has a time, or none a level."""
    found = [
        f"{show_path(call, row.path)}: {remark['text']}"
        for row in queries.imported_since(call.db, times.add(call.now, seconds=-WARNED_DAYS * 86_400))
        for remark in Tally.read(row.reading).remarks()
        if remark["kind"] == WARNING
    ]
    more = len(found) - MAX_WARNED
    return [*found[:MAX_WARNED], f"{more} more logs are read so"] if more > 0 else found


def _file(call: Call, row: Row[Any]) -> dict[str, Any]:
    shown = {name: getattr(row, name) for name in _FILE_FIELDS}
    return {**shown, "path": show_path(call, row.path), **coverage.shown_reading(row)}


def show_source(call: Call) -> Mapping[str, Any]:
    """Show the raw text of an event, or a page of a whole source."""
    query = call.query
    if ("occurrence" in query) == ("source_id" in query):
        raise Invalid("occurrence: exactly one of occurrence and source_id must be given")
    if "occurrence" in query:
        return raw_text.event_text(call, query["occurrence"], query["context"])
    if "line" in query and (query["tail"] or query["offset"]):
        raise Invalid("line: cannot be given together with offset or tail")
    if "event" in query:
        if "line" in query or query["tail"]:
            raise Invalid("event: cannot be given together with line or tail")
        offset = raw_text.nearest_event(call, query["source_id"], query["offset"], query["event"], query["level"])
        return raw_text.whole_source(
            call, query["source_id"], offset=offset, lines=query["lines"], tail=False, numbered=query["numbered"]
        )
    page = {name: query[name] for name in ("offset", "lines", "tail")}
    return raw_text.whole_source(call, query["source_id"], **page, line=query.get("line"), numbered=query["numbered"])


def show_ingestion(call: Call) -> Mapping[str, Any]:
    """Show what of log files is stored."""
    return ingestion.show(call)


def replace_ingestion(call: Call) -> Mapping[str, Any]:
    """Set what of log files is stored."""
    return ingestion.replace(call, call.body)


def change_ingestion(call: Call) -> Mapping[str, Any]:
    """Change some of what of log files is stored."""
    return ingestion.change(call, call.body)


def import_incoming(call: Call) -> Reply:
    """Queue the import of the dropped files."""
    with call.transaction():
        job_id = call.enqueue(IMPORT, dedupe=IMPORT)
    return job_reply(call, job_id)


ENDPOINTS = (
    Endpoint("sources", get=read(list_sources, "issues.read")),
    Endpoint("source", get=own(show_source, "issues.read")),
    Endpoint(
        "ingestion-settings",
        get=read(show_ingestion, "settings.read"),
        put=write(replace_ingestion, "settings.write"),
        patch=write(change_ingestion, "settings.write"),
    ),
    Endpoint("import-incoming", post=own(import_incoming, "connectors.write", 202, 200)),
)
