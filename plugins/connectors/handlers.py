"""HTTP in, HTTP out: `connectors` and what is done with them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, Conflict, Endpoint, Invalid, Reply, ServiceError, own, read
from snaglist.plugins.connectors import planning, queries, runs, service, syncing
from snaglist.plugins.connectors import run_queries as sql
from snaglist.plugins.connectors.contract import RemoteFailure
from snaglist.plugins.connectors.opening import kind_of, opened
from snaglist.plugins.connectors.tables import connector_runs
from snaglist.plugins.system import job_reply, rows, worker_alive

NO_WORKER = "No worker is running; the job waits."
_SWITCHED_OFF = "The connector is disabled."


def test_connector(call: Call) -> Mapping[str, Any]:
    """Connect and list the files; that this fails is an answer, not a failure."""
    connector = _found(call, call.body["id"])
    try:
        with opened(call, connector, learning=True) as remote:
            files = len(planning.discover(call, remote))
    except RemoteFailure as error:
        return {"ok": False, "message": error.message, "files": 0}
    word = "file" if files == 1 else "files"
    return {"ok": True, "message": f"Discovered {files} log {word}.", "files": files}


def preview(call: Call) -> Mapping[str, Any]:
    """Tell what a sync of one or of all enabled connectors would do."""
    if "id" in call.body:
        connector = _found(call, call.body["id"])
        if not connector.enabled:
            raise Conflict(_SWITCHED_OFF)
        return _plan(call, connector)
    enabled = call.read(lambda db: queries.enabled_connectors(db, call.service.file_node))
    results: list[Mapping[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for connector in enabled:
        try:
            results.append(_plan(call, connector))
        except ServiceError as error:
            errors.append({"connector_id": connector.id, "error": error.message})
    return {"results": results, "errors": errors}


def sync(call: Call) -> Reply:
    """Queue a sync of one or of all enabled connectors."""
    queued = call.write(lambda db: _queue(call, db))
    if queued is None:
        return Reply({"job_id": None, "status": "succeeded", "run_ids": []})
    job_id, run_ids = queued
    alive = worker_alive(call.service)
    extra = {"accepted": True, "worker_started": alive, "run_ids": run_ids}
    reply = job_reply(call, job_id, extra if alive else {**extra, "warning": NO_WORKER})
    if reply.status == 200:
        shown = call.read(lambda db: [runs.show(call, each) for each in sql.runs_of(db, run_ids)])
        reply.body = {"job_id": job_id, "status": "succeeded", **extra, "runs": shown}
    return reply


def list_runs(call: Call) -> Mapping[str, Any]:
    """List runs, the newest first."""
    table = connector_runs.c
    wanted = [table.connector_id == call.query["connector_id"]] if "connector_id" in call.query else []
    newest = sql.shown().order_by(table.started_at.desc(), table.id.desc())
    page, meta = rows.page(call, newest, connector_runs, *wanted)
    return {"data": [runs.show(call, row) for row in page], "meta": meta}


def _found(call: Call, connector_id: int) -> Row[Any]:
    return call.read(lambda _: service.find_here(call, connector_id))


def _plan(call: Call, connector: Row[Any]) -> dict[str, Any]:
    kind = kind_of(call, connector)
    with opened(call, connector) as remote:
        return planning.show(call, planning.make_plan(call, connector, kind, remote), kind)


def _queue(call: Call, db: Connection) -> tuple[int, list[int]] | None:
    """Queue the job and its runs together; returns their ids, None when there is nothing to sync."""
    node = None
    if "id" in call.body:
        wanted = [service.find(call, call.body["id"])]
        if not wanted[0].enabled:
            raise Conflict(_SWITCHED_OFF)
        node = wanted[0].node if call.service.file_node else None
        snapshots = {wanted[0].id: call.body.get("snapshot")}
    else:
        wanted = list(queries.enabled_connectors(db, call.service.file_node))
        snapshots = _snapshots(call, {row.id for row in wanted})
    if not wanted:
        return None
    queries.lock_connectors(db, [row.id for row in wanted])
    args = {"connectors": {str(row.id): snapshots.get(row.id) for row in wanted}}
    job_id = call.enqueue(syncing.JOB, args, node=node)
    return job_id, runs.begin(call, wanted, job_id, snapshots)


def _snapshots(call: Call, enabled: set[int]) -> dict[int, str | None]:
    given = call.body.get("snapshots")
    if given is None:
        return {}
    snapshots = {int(connector_id): snapshot for connector_id, snapshot in given.items()}
    if not enabled <= snapshots.keys():
        raise Invalid("snapshots: must hold every enabled connector")
    return snapshots


ENDPOINTS = (
    Endpoint(
        "connectors",
        get=read(service.list_connectors, "connectors.read"),
        post=own(service.create, "settings.write", 201),
        put=own(service.replace, "settings.write"),
        patch=own(service.change, "settings.write"),
        delete=own(service.delete, "settings.write"),
    ),
    Endpoint("connectors-test", post=own(test_connector, "connectors.write")),
    Endpoint("connectors-preview", post=own(preview, "connectors.write")),
    Endpoint("connectors-sync", post=own(sync, "connectors.write", 200, 202)),
    Endpoint("connectors-runs", get=read(list_runs, "connectors.read")),
)
