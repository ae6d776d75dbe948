"""HTTP in, HTTP out: health, applications, plugins and jobs."""

from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import select

from snaglist.kernel import (
    Application,
    Call,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Plugin,
    Reply,
    hookspecs,
)
from snaglist.kernel.plugins import DISTRIBUTION
from snaglist.kernel.service import Service
from snaglist.plugins.system import registering, rows
from snaglist.plugins.system.health import Health
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.registering import remove_application


def _service(call: Call) -> Service:
    """Return the installation with what only this area does to it."""
    return cast(Service, call.service)


def open_to_all(call: Call) -> None:
    """Let everybody ask for `health`: a readiness probe has no key."""


def health(call: Call) -> Reply:
    """Answer the readiness probe."""
    body, status = _service(call).part(Health).report()
    return Reply(body, status)


def list_applications(call: Call) -> dict[str, Any]:
    """List the applications that the actor may read, in registration order."""
    readable = [one for one in call.service.applications.all() if call.may_in(one, "applications.read")]
    return {"data": [show_application(call, application) for application in readable]}


def create_application(call: Call) -> dict[str, Any]:
    """Register an application with its database and folders."""
    if not call.may("applications.write"):  # a role in another application does not make new ones
        raise Forbidden("Your role lacks the ability applications.write.")
    made = registering.add_application(_service(call), call.body["name"], call.body.get("id"))
    return show_application(call, made)


def rename_application(call: Call) -> dict[str, Any]:
    """Give an application another name."""
    application = _own_application(call)
    return show_application(call, registering.rename_application(_service(call), application.id, call.body["name"]))


def delete_application(call: Call) -> dict[str, Any]:
    """Remove an application with everything below its folder."""
    phrase = f"DELETE APPLICATION {call.body['id']}"
    if call.body["confirmation"] != phrase:  # known by the body alone, so it comes before what is stored
        raise Invalid(f"confirmation: must be exactly {phrase}")
    application = _own_application(call)
    remove_application(_service(call), application)
    return {"id": application.id, "deleted": True}


def _own_application(call: Call) -> Application:
    """Return the application of the body, when the actor may change it."""
    application = call.service.applications.find(call.body["id"])
    if application is None:
        raise NotFound("Unknown application.")
    if not call.may_in(application, "applications.write"):
        raise Forbidden("Your role lacks the ability applications.write.")
    return application


def show_application(call: Call, application: Application) -> dict[str, Any]:
    """Return an application as the API shows it."""
    server = call.service.database.engine_name != "sqlite"
    folders = {name: getattr(application, name) for name in ("logs", "processed", "sources")}
    data = call.service.settings.data
    return {
        "id": application.id,
        "name": application.name,
        "database": application.tenant if server else str(application.file.relative_to(data)),
        **{name: str(path.relative_to(data)) for name, path in folders.items()},
        "created_at": application.created_at,
        "problem": fault.name if (fault := call.service.database.faults.of(application)) else "",
    }


def list_plugins(call: Call) -> dict[str, Any]:
    """List the plugins that can be switched, by id."""
    states = call.service.plugins.states(call.db)
    shown = [_show_plugin(plugin, states.get(plugin.id, {})) for plugin in call.service.plugins.all()]
    return {"data": sorted((item for item in shown if item), key=lambda item: item["id"])}


def switch_plugin(call: Call) -> dict[str, Any]:
    """Enable or disable a plugin in this application."""
    plugin = call.service.plugins.find(call.body["id"])
    if plugin is None or plugin.core:
        raise NotFound("Unknown plugin.")
    if plugin.error is not None and call.body["enabled"]:
        raise Conflict("The plugin could not be loaded: see its last_error.")
    call.service.plugins.switch(call, plugin, call.body["enabled"])
    return list_plugins(call)


def _show_plugin(plugin: Plugin, state: dict[str, Any]) -> dict[str, Any] | None:
    if plugin.core:
        return None
    failed = {"hook": plugin.failed_hook, "message": plugin.error, "at": plugin.failed_at} if plugin.error else None
    return {
        "id": plugin.id,
        "name": plugin.description.name,
        "description": "; ".join(filter(None, (plugin.description.description, plugin.description.lacks))),
        "category": plugin.description.category,
        "version": plugin.description.version,
        "source": "built-in" if plugin.distribution == DISTRIBUTION else "installed",
        "status": "failed" if failed else "active",
        "enabled": not failed and bool(state.get("enabled")),
        "endpoints": sorted(endpoint.name for endpoint in plugin.values(hookspecs.register_endpoints)),
        "last_error": failed or state.get("last_error"),
    }


def show_job(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job as the API shows it."""
    progress = {name: row[name] for name in ("done", "total", "unit", "text")}
    names = (
        "result", "error", "attempts", "max_attempts", "created_by",
        "created_at", "run_at", "started_at", "heartbeat_at", "finished_at",
    )  # fmt: skip
    head = {"id": row["id"], "kind": row["kind"], "status": row["status"], "progress": progress}
    return head | {name: row[name] for name in names}


def show_jobs(call: Call) -> dict[str, Any]:
    """Show one job, or a page of them, newest first."""
    query = call.query
    if "id" in query:
        return {"data": show_job(dict(call.service.jobs.find(call, query["id"])))}
    table = tables.jobs
    wanted = [table.c[name].in_(query[name]) for name in ("status", "kind") if query.get(name)]
    page, meta = rows.page(call, select(table).order_by(table.c.id.desc()), table, *wanted)
    return {"data": [show_job(row._mapping) for row in page], "meta": meta}


def change_job(call: Call) -> dict[str, Any]:
    """Cancel a job, or queue a failed or cancelled one again."""
    job_id = call.body["id"]
    if call.body["action"] == "cancel":
        call.service.jobs.cancel(call, job_id)
    else:
        job_id = call.service.jobs.retry(call, job_id)
    return show_job(dict(call.service.jobs.find(call, job_id)))
