"""HTTP in, HTTP out: `issue-releases`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, read
from snaglist.plugins.issues import resolve_issue_id
from snaglist.plugins.releases import settings
from snaglist.plugins.releases.seen import queries
from snaglist.plugins.releases.seen.links import link, shown_frame, version_of


def get_releases(call: Call) -> Mapping[str, Any]:
    """Show the releases that an issue was seen in, and where its culprit's source is."""
    issue_id = resolve_issue_id(call.db, call.query["id"])
    rows = queries.releases_of(call.db, issue_id)
    last = rows[0].value if rows else None
    return {
        "releases": [
            {"release": row.value, "occurrences": row.count, "first_seen": row.first_seen, "last_seen": row.last_seen}
            for row in rows
        ],
        "first_release": min(rows, key=lambda row: (row.first_seen, row.value)).value if rows else None,
        "last_release": last,
        "source_link": _source_link(call, issue_id, last),
    }


def _source_link(call: Call, issue_id: int, release: str | None) -> str | None:
    chosen = settings.load(call)
    repository = chosen.repository(queries.module_of(call.db, issue_id))
    frame = shown_frame(call, issue_id) if repository else None
    if repository is None or frame is None:
        return None
    return link(repository, version_of(call, chosen, release), *frame)


ENDPOINTS = (Endpoint("issue-releases", get=read(get_releases, "releases.read")),)
