"""HTTP in, HTTP out: `deploys`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Endpoint, Invalid, NotFound, digest, paging, read, times, write
from snaglist.plugins.releases.deploys import queries
from snaglist.plugins.releases.tables import releases
from snaglist.plugins.system import rows

_SHOWN = ("id", "version", "environment", "ref", "notes", "deployed_at", "created_at")
_MARKED = ("version", "environment", "ref", "deployed_at")


def list_deploys(call: Call) -> Mapping[str, Any]:
    """List deploys, the newest first, and the marks of the last days for charts."""
    query = call.query
    environment = query.get("environment")
    total, page = queries.page_of_deploys(call.db, environment, query["page"], query["limit"])
    since = times.add(call.now, days=-query["days"])
    return {
        "data": _show(call, page),
        "markers": [
            {name: getattr(row, name) for name in _MARKED} | {"day": row.deployed_at[:10]}
            for row in queries.deploys_since(call.db, environment, since)
        ],
        "meta": paging.meta(total, query["page"], query["limit"]),
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
