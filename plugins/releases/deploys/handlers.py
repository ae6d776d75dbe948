"""HTTP in, HTTP out: `deploys`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Endpoint, Invalid, NotFound, digest, read, times, write
from snaglist.plugins.releases.deploys import queries
from snaglist.plugins.releases.tables import releases
from snaglist.plugins.system import rows

MAX_MARKERS = 1_000  # of a chart: more than it has room for
_SHOWN = ("id", "version", "environment", "ref", "notes", "deployed_at", "created_at")
_MARKED = ("version", "environment", "ref", "deployed_at")


def list_deploys(call: Call) -> Mapping[str, Any]:
    """List deploys, the newest first, and the marks of the last days for charts."""
    wanted = [releases.c.environment == call.query["environment"]] if "environment" in call.query else []
    newest = select(releases).order_by(releases.c.deployed_at.desc(), releases.c.id.desc())
    page, meta = rows.page(call, newest, releases, *wanted)
    lately = newest.where(*wanted, releases.c.deployed_at >= times.add(call.now, days=-call.query["days"]))
    return {
        "data": _show(call, page),
        "markers": [
            {name: getattr(row, name) for name in _MARKED} | {"day": row.deployed_at[:10]}
            for row in call.db.execute(lately.limit(MAX_MARKERS))
        ],
        "meta": meta,
    }


def create_deploy(call: Call) -> Mapping[str, Any]:
    """Note that a release was deployed."""
    body = call.body
    row = {
        "version": body["version"],
        "environment": body["environment"],
        **{name: body.get(name) or None for name in ("ref", "notes")},
        "deployed_at": body.get("deployed_at") or call.now,
        "created_at": call.now,
    }
    try:
        with call.db.begin_nested():
            made = rows.add(call.db, releases, row)
    except IntegrityError as error:
        taken = f"version: {body['version']} is deployed to {body['environment']} already; delete that first"
        raise Invalid(taken) from error
    return _show(call, rows.among(call.db, select(releases), releases.c.id, [made]))[0]


def delete_deploy(call: Call) -> Mapping[str, Any]:
    """Forget a deploy; what was seen in its release stays."""
    if not rows.remove(call.db, releases, call.body["id"]):
        raise NotFound("Unknown deploy.")
    return {"id": call.body["id"], "deleted": True}


def _show(call: Call, deploys: list[Row[Any]]) -> list[dict[str, Any]]:
    counts = queries.issue_counts(call.db, {(digest(row.version), row.environment) for row in deploys})
    shown = []
    for row in deploys:
        seen, new = counts.get((digest(row.version), row.environment), (0, 0))
        fields = {name: getattr(row, name) for name in _SHOWN}
        shown.append({**fields, "issue_count": seen, "new_issue_count": new})
    return shown


ENDPOINTS = (
    Endpoint(
        "deploys",
        get=read(list_deploys, "releases.read"),
        post=write(create_deploy, "releases.write", 201),
        delete=write(delete_deploy, "releases.write"),
    ),
)
