"""The commands serve, apps, plugins, plugin, jobs, db, key and doctor."""

import logging
import secrets
import sys
import time
from pathlib import Path
from typing import Any

import click

from snaglist.kernel import Application, NotFound, ServiceError, Unavailable, hookspecs
from snaglist.kernel.faults import Unusable
from snaglist.kernel.plugins import way_on
from snaglist.kernel.privacy import make_folder
from snaglist.kernel.service import Service
from snaglist.kernel.steps import StepFailed
from snaglist.plugins.system.asking import ask_all
from snaglist.plugins.system.command_line import Session, command, confirmed, group, table
from snaglist.plugins.system.creating import create
from snaglist.plugins.system.health import NEED_DATABASE, words
from snaglist.plugins.system.hookspecs import doctor_warnings
from snaglist.plugins.system.jobs.leases import heartbeat, worker_id
from snaglist.plugins.system.jobs.worker import Worker
from snaglist.plugins.system.lookalikes import require_intended_key
from snaglist.plugins.system.registering import adopt_applications, recreate_application, unlisted
from snaglist.plugins.system.remedies import told
from snaglist.plugins.system.repairing import check
from snaglist.plugins.system.sealed import lost
from snaglist.plugins.system.upgrading import Failed, pending, unused, upgrade
from snaglist.plugins.system.warnings import config_warnings, open_to_others

_WAKE_SECONDS = 0.2  # how long a worker at rest takes to see a signal to end
_LOST = "{}: no key opens it: add the SERVICE_SECRET (or bring back the secret.key) of before, or enter it anew"
_UNLISTED = "its database is in {}, but the registry does not list it: `snaglist apps adopt`, or take the folder away"
CHECK_SECONDS = 10  # for each database
PARTLY = 3


@command(None, "serve")
@click.option("--host", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (default 8787; 0: a free one).")
@click.option("--threads", type=click.IntRange(1, 256), help="Threads that answer requests (default 8).")
@click.option("--no-jobs", is_flag=True, help="Run no background jobs in this process.")
def serve_command(session: Session, host: str | None, port: int | None, threads: int | None, no_jobs: bool) -> None:
    """Serve the dashboard and the API; one line on stdout says when they are there."""
    from snaglist.plugins.system.server import serve

    overrides: dict[str, Any] = {"server.host": host, "server.port": port, "server.threads": threads}
    settings = session.settings(**overrides)
    service = session.open(bound=settings["server.host"], start=False, **overrides)
    require_intended_key(service)
    service.start()
    for warning in config_warnings(service, told=True):
        session.note(f"warning: {warning}")

    def ready(url: str) -> None:
        shown, engine, key = settings["server.data"], service.database.engine_name, service.keys.required
        document = {"version": service.version, "url": url, "data": shown, "database": engine, "key": key}
        told = f"(data {shown}, {engine}, {'key set' if key else 'key not set'})"
        session.print(document, f"snaglist {service.version} on {url} {told}")
        sys.stdout.flush()

    serve(
        service,
        settings["server.host"],
        settings["server.port"],
        threads=settings["server.threads"],
        run_jobs=not no_jobs,
        ready=ready,
    )


@command(None, "key")
@click.option("--bytes", "size", type=click.IntRange(16, 256), default=32, show_default=True, help="Random bytes.")
def key_command(session: Session, size: int) -> None:
    """Print one random key for SERVICE_TOKEN."""
    made = secrets.token_urlsafe(size)
    session.print({"key": made}, made)


@command(None, "doctor")
def doctor_command(session: Session) -> None:
    """Check the installation and say what to do about what is wrong."""
    service = session.open(start=False)
    data = service.settings.data
    made = "" if data.exists() else ", made just now"
    orphans: dict[str, str] = {}
    failing: list[str] = []
    exposed: list[str] = []
    broken: list[str] = []
    owners: set[str] = set()
    started = False
    try:
        service.start()
        started = True
        exposed = open_to_others(service)
        for application in service.applications.all():
            try:
                if not check(service, application, seconds=CHECK_SECONDS):
                    exposed.append(f"{application.id}: the database is too large to be looked through for damage here")
                service.require_schema(application)
                failing += _failing(service, application)
                failing += [f"warn  {application.id}: {_LOST.format(label)}" for label in lost(service, application)]
                failing += _warned(service, application)
                owners |= {owner for owner, _ in service.applications.state(application).orphans}
            except Unusable as error:
                place = application.tenant if service.database.engine_name != "sqlite" else application.file
                broken.append(f"FAIL  {told(error)} [{error.fault.name}: {place}]")
            except ServiceError as error:
                broken.append(f"FAIL  {application.id}: {error}")
        orphans = unused(service, owners)
        exposed += [f"{one.id}: {_UNLISTED.format(one.folder)}" for one in unlisted(service)]
    except (ServiceError, StepFailed) as error:
        said = told(error) if isinstance(error, ServiceError) else str(error)
        session.note(f"snaglist: {said}")  # the checks below say what is wrong
        logging.getLogger("snaglist").setLevel(logging.ERROR)  # each of them meets the same failure again
    report = session.request("health")
    lines = [f"info  data directory {data}{made}; database {service.database.engine_name}"]
    lines += [_checked(service, name, report["checks"]) for name in report["checks"]]
    lines += broken
    lines += [f"warn  {warning}" for warning in config_warnings(service, told=True)]
    lines += [f"warn  plugin {p.id}: {p.failed_hook}: {p.error}; {way_on(p)}" for p in service.plugins.all() if p.error]
    lines += [f"warn  plugin {p.id}: {p.description.lacks}" for p in service.plugins.loaded() if p.description.lacks]
    lines += failing
    lines += [f"warn  {warning}" for warning in exposed]
    lines += [f"info  tables of {owner} belong to a plugin that {matter}" for owner, matter in orphans.items()]
    session.print(report, "\n".join(lines))
    session.exit(0 if started and all(report["checks"].values()) and not broken else 1)


def _checked(service: Service, name: str, checks: dict[str, bool]) -> str:
    """Return the line of a check."""
    if checks[name]:
        return f"ok    {name}"
    if name in NEED_DATABASE and not checks["database"]:
        return f"?     {name}: not known without the database"
    registry = service.applications.registry
    if name == "database" and (fault := service.database.faults.of(registry)):
        return f"FAIL  database: {told(Unusable(registry, fault))} [{fault.name}: {registry.file}]"
    if name == "database" and service.database.engine_name == "sqlite":
        return "FAIL  database: see that this user may write to the data directory and that its disk is not full"
    return f"FAIL  {name}: {words(service, name).hint}"


def _failing(service: Service, application: Application) -> list[str]:
    """Return a line for each plugin whose hook failed in an application and has not succeeded since."""
    with service.call(application).transaction(write=False) as db:
        states = service.plugins.states(db)
    found = [(plugin, states.get(plugin.id, {}).get("last_error")) for plugin in service.plugins.loaded()]
    where = f" in {application.id}"
    return [f"warn  plugin {plugin.id}{where}: {e['hook']}: {e['message']} ({e['at']})" for plugin, e in found if e]


def _warned(service: Service, application: Application) -> list[str]:
    """Return what the plugins say that an operator should know of an application."""
    call = service.call(application, None)
    with call.transaction(write=False):
        return [f"warn  {application.id}: {warning}" for warning in ask_all(call, doctor_warnings)]


apps = group(None, "apps", "List, add, rename and remove applications.")


def _applications_table(listed: list[dict[str, Any]]) -> str:
    return table(("ID", "NAME", "DATABASE"), [(a["id"], a["name"], a["database"]) for a in listed])


@command(apps, "list")
def apps_list(session: Session) -> None:
    """List the applications."""
    answer = session.request("applications")
    session.print(answer, _applications_table(answer["data"]))


@command(apps, "add")
@click.argument("name")
@click.option("--id", "wanted", help="Id (default: made from the name).")
def apps_add(session: Session, name: str, wanted: str | None) -> None:
    """Add an application."""
    body = {"name": name} if wanted is None else {"name": name, "id": wanted}
    made = session.request("applications", "POST", body)
    session.print(made, _applications_table([made]))


@command(apps, "rename")
@click.argument("application_id", metavar="ID")
@click.argument("name")
def apps_rename(session: Session, application_id: str, name: str) -> None:
    """Give an application another name."""
    changed = session.request("applications", "PATCH", {"id": application_id, "name": name})
    session.print(changed, _applications_table([changed]))


@command(apps, "remove")
@click.argument("application_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def apps_remove(session: Session, application_id: str, yes: bool) -> None:
    """Remove an application with its database, archived logs and mirrors."""
    if session.open().applications.find(application_id) is None:
        raise NotFound("Unknown application.")
    phrase = f"DELETE APPLICATION {application_id}"
    confirmed(yes, "apps remove", phrase, "remove it")
    body = {"id": application_id, "confirmation": phrase}
    session.print(session.request("applications", "DELETE", body), f"removed {application_id}")


@command(apps, "recreate")
@click.argument("application_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def apps_recreate(session: Session, application_id: str, yes: bool) -> None:
    """Begin anew with an application whose database is missing, damaged or none of snaglist.

    A damaged file stays beside the new one under another name. A dump is loaded with `db load --replace`, which needs
    no recreation before.
    """
    application = session.open().applications.find(application_id)
    if application is None:
        raise NotFound("Unknown application.")
    confirmed(yes, "apps recreate", f"RECREATE APPLICATION {application_id}", "begin anew with it, empty")
    recreate_application(session.open(), application)
    session.print({"id": application_id, "recreated": True}, f"{application_id} begins anew, empty")


@command(apps, "adopt")
def apps_adopt(session: Session) -> None:
    """Enter the applications anew whose databases are there, when the registry was lost, is damaged or an older one."""
    service = session.open(start=False)
    adopted = adopt_applications(service)
    service.start()
    document = {"data": [{"id": one.id, "name": one.name} for one in adopted]}
    session.print(document, table(("ID", "NAME"), [(one.id, one.name) for one in adopted]))


plugins = group(None, "plugins", "List, enable and disable optional areas of an application.")


def _print_plugins(session: Session, answer: dict[str, Any]) -> None:
    rows = [
        (p["id"], p["name"], "on" if p["enabled"] else "off", p["status"], p["version"], p["source"])
        for p in answer["data"]
    ]
    session.print(answer, table(("ID", "NAME", "STATE", "STATUS", "VERSION", "SOURCE"), rows))


@command(plugins, "list")
def plugins_list(session: Session) -> None:
    """List the plugins."""
    _print_plugins(session, session.request("plugins"))


@command(plugins, "enable")
@click.argument("plugin_id", metavar="ID")
def plugins_enable(session: Session, plugin_id: str) -> None:
    """Enable a plugin."""
    _print_plugins(session, session.request("plugins", "POST", {"id": plugin_id, "enabled": True}))


@command(plugins, "disable")
@click.argument("plugin_id", metavar="ID")
def plugins_disable(session: Session, plugin_id: str) -> None:
    """Disable a plugin; its data stays."""
    _print_plugins(session, session.request("plugins", "POST", {"id": plugin_id, "enabled": False}))


plugin_group = group(None, "plugin", "Write a plugin of your own.")


@command(plugin_group, "new")
@click.argument("name")
@click.option("--dir", "parent", default=".", type=click.Path(path_type=Path), help="Where its folder is made.")
def plugin_new(session: Session, name: str, parent: Path) -> None:
    """Write a package NAME that shows every door of snaglist and passes its own tests."""
    root = click.get_current_context().find_root().command
    installed = session.plugins.all()
    taken = {*(plugin.id for plugin in installed), *getattr(root, "commands", ())}
    taken |= {endpoint.name for plugin in installed for endpoint in plugin.values(hookspecs.register_endpoints)}
    folder, written = create(name, parent, taken)
    steps = f"cd {folder}\npip install -e '.[test]'\npytest"
    session.print({"path": str(folder), "files": written}, f"wrote {folder}: {len(written)} files\n\n{steps}")


jobs_group = group(None, "jobs", "Show and steer background jobs, or run a worker.")


def _jobs_table(listed: list[dict[str, Any]]) -> str:
    rows = [(j["id"], j["kind"], j["status"], j["created_at"], j["error"] or j["progress"]["text"]) for j in listed]
    return table(("ID", "KIND", "STATUS", "CREATED", "NOTE"), rows)


@command(jobs_group, "list")
def jobs_list(session: Session) -> None:
    """List the newest jobs."""
    answer = session.request("jobs")
    session.print(answer, _jobs_table(answer["data"]))


@command(jobs_group, "show")
@click.argument("job_id", metavar="ID", type=int)
def jobs_show(session: Session, job_id: int) -> None:
    """Show one job."""
    answer = session.request("jobs", id=str(job_id))
    session.print(answer, _jobs_table([answer["data"]]))


@command(jobs_group, "cancel")
@click.argument("job_id", metavar="ID", type=int)
def jobs_cancel(session: Session, job_id: int) -> None:
    """Cancel a job."""
    answer = session.request("jobs", "POST", {"id": job_id, "action": "cancel"})
    session.print(answer, _jobs_table([answer]))


@command(jobs_group, "retry")
@click.argument("job_id", metavar="ID", type=int)
def jobs_retry(session: Session, job_id: int) -> None:
    """Queue a failed or cancelled job again."""
    answer = session.request("jobs", "POST", {"id": job_id, "action": "retry"})
    session.print(answer, _jobs_table([answer]))


@command(jobs_group, "work")
@click.option("--once", is_flag=True, help="Stop when no job is due.")
def jobs_work(session: Session, once: bool) -> None:
    """Run jobs of all applications until interrupted."""
    from snaglist.plugins.system.server import end_on_signals

    service = session.open()
    if once:
        name = worker_id(service.settings.node)
        heartbeat(service, name, "worker")
        ran, failed = 0, False
        for application in service.applications.all():
            try:
                service.require_schema(application)
                ran += service.jobs.run_queued(application, name)
            except Unavailable as error:  # which keeps no other from working
                failed = True
                session.note(f"warning: {told(error)}")
        session.print({"ran": ran}, f"ran {ran} jobs")
        session.exit(PARTLY if failed else 0)
    worker = Worker(service, "worker")
    ends: list[bool] = []
    end_on_signals(lambda: ends.append(True))
    worker.start()
    if session.as_json:
        session.print({"status": "started", "node": service.settings.node}, "")
        sys.stdout.flush()
    session.note("worker started")
    while not ends:
        time.sleep(_WAKE_SECONDS)
    worker.stop()


db = group(None, "db", "Look after the databases.")


@command(db, "upgrade")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when steps are pending.")
def db_upgrade(session: Session, check: bool) -> None:
    """Apply pending schema steps of the registry and of all applications."""
    service = session.open(start=False)
    failed: Failed = {}
    if check:
        found = pending(service, failed)
        _tell_failed(session, failed)
        session.print({"applied": [], "pending": found}, _steps_text(found, "pending") or "nothing is pending")
        session.exit(1 if found or failed else 0)
    make_folder(service.settings.data)
    applied = upgrade(service, failed)
    _tell_failed(session, failed)
    session.print({"applied": applied, "pending": []}, _steps_text(applied, "applied") or "no step was pending")
    session.exit(1 if failed else 0)


def _tell_failed(session: Session, failed: Failed) -> None:
    for error in failed.values():
        session.note(f"snaglist: {told(error)}")


def _steps_text(steps: list[dict[str, str | None]], word: str) -> str:
    return "\n".join(f"{word} {s['application'] or 'registry'} {s['owner']}:{s['name']}" for s in steps)


COMMANDS = (serve_command, apps, plugins, plugin_group, jobs_group, db, key_command, doctor_command)
