"""Applications come, get other names and go: their rows in the registry, databases and folders."""

import logging
import shutil
import threading

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Application, Conflict, Invalid, NotFound, hookspecs, store, times
from snaglist.kernel.faults import DAMAGED, DENIED, FOREIGN, MISSING, READONLY, Unusable
from snaglist.kernel.service import CREATED, Service
from snaglist.kernel.steps import CORE
from snaglist.kernel.text import slug
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.activity import Activity
from snaglist.plugins.system.repairing import check, set_aside

REPLACEABLE = (DAMAGED, MISSING, FOREIGN)  # nothing that works is lost with what is there
_TURN = threading.Lock()  # one thread at a time makes or removes an application


def add_application(service: Service, name: str, application_id: str | None = None) -> Application:
    """Make the database of an application, register it with its folders, then tell the plugins."""
    wanted = slug(application_id if application_id is not None else name)
    if not 1 <= len(wanted) <= 64:
        raise Invalid("id: must have 1-64 characters of a-z, 0-9 and dashes")
    if wanted == "default" or service.applications.find(wanted):
        raise Invalid("id: default is reserved" if wanted == "default" else "id: exists already")
    with _TURN:
        application = service.applications.make(wanted, name, times.now())
        if was_used(service, application):  # it is not emptied, nor does a new application begin with its data
            raise Invalid(
                f"id: the database of {wanted} is there, though the application is not listed: enter it with `snaglist"
                " apps adopt`, or take it away"
            )
        try:
            # First: whoever finds it registered may use it.
            service.database.create(application)
            service.upgrade_application(application)
            register_application(service, application)
            service.introduce(application)
        except BaseException as error:
            if not isinstance(error, Invalid):  # else another process was faster, and the database is its own
                _forget(service, application)
            raise
    return application


def register_application(service: Service, application: Application) -> None:
    """Enter an application in the registry, at its end, and make its folders."""
    registered = store.applications
    try:
        with service.database.exclusive(service.applications.registry) as db:
            last = db.execute(select(func.max(registered.c.position))).scalar_one()
            db.execute(insert(registered), application.row((last or 0) + 1))
    except IntegrityError as error:
        raise Invalid("id: exists already") from error
    service.applications.refresh()
    service.applications.make_folders(application)


def rename_application(service: Service, application_id: str, name: str) -> Application:
    """Give an application another name."""
    registered = store.applications
    with service.database.transaction(service.applications.registry, write=True) as db:
        db.execute(update(registered).where(registered.c.id == application_id).values(name=name))
    service.applications.refresh()
    found = service.applications.find(application_id)
    if found is None:
        raise NotFound("Unknown application.")
    return found


def recreate_application(service: Service, application: Application) -> None:
    """Give a registered application whose database cannot be used a new, empty one; the old file stays beside it."""
    with _TURN:
        try:
            service.applications.forget_state(application)
            check(service, application)
            service.require_schema(application)
        except Unusable as error:
            if error.fault not in REPLACEABLE:
                raise
        else:
            raise Conflict(f"The {application.label} is in order: it is not made anew.")
        service.applications.make_folders(application)
        replace_database(service, application)
        service.upgrade_application(application)
        service.applications.forget_state(application)
        service.introduce(application)


def replace_database(service: Service, application: Application) -> None:
    """Put an empty database in the place of one that is missing or cannot be used."""
    set_aside(service, application)
    service.database.create(application)
    service.applications.forget_state(application)


def adopt_applications(service: Service) -> list[Application]:
    """Register the applications whose databases are there although the registry is lost, damaged or an older one.

    Names that people gave them were in the registry: they are called by their ids until they are renamed.
    """
    applications = service.applications
    found: list[Application] = []
    try:
        lost = applications.lost()
        if not lost and service.database.exists(applications.registry):
            check(service, applications.registry)
            found = unlisted(service)
    except Unusable as error:
        if error.fault not in REPLACEABLE:
            raise
        lost = True
    if lost:
        found = applications.unregistered()
        set_aside(service, applications.registry)
        applications.make_registry()
    if not found:
        raise Conflict("The registry is in order: nothing is to be entered anew.")
    for application in found:
        register_application(service, application)
    return found


def unlisted(service: Service) -> list[Application]:
    """Applications whose databases are there, but not in the registry: it is an older one, or a removal was killed."""
    listed = {one.id for one in service.applications.refresh()}
    found = [one for one in service.applications.unregistered() if one.id not in listed]
    return [one for one in found if was_used(service, one)]


def was_used(service: Service, application: Application) -> bool:
    """Tell whether the database of an application that is not listed holds more than a creation that was killed."""
    if not service.database.exists(application):
        return False
    try:
        state = service.steps.state(application)
        if state.fault or not any(owner == CORE for owner, _ in service.steps.applied(application)):
            return state.fault is FOREIGN
        with service.database.transaction(application, write=False) as db:
            return store.get_setting(db, CREATED) is not None
    except Unusable:
        return True


def unregister_application(service: Service, application: Application) -> None:
    """Remove an application with its database and folders."""
    with _TURN:
        if len(service.applications.refresh()) == 1:
            raise Conflict("The only application cannot be deleted.")
        _forget(service, application)


def _forget(service: Service, application: Application) -> None:
    registered = store.applications
    if service.applications.find(application.id):  # else the registry need not be written, which may be what failed
        with service.database.transaction(service.applications.registry, write=True) as db:
            db.execute(delete(registered).where(registered.c.id == application.id))
        service.part(Activity).forget(application)
    service.applications.refresh()
    service.applications.forget_state(application)
    service.database.drop(application)
    shutil.rmtree(application.folder, ignore_errors=True)


log = logging.getLogger("snaglist")


def remove_application(service: Service, application: Application) -> None:
    """Remove an application that has no running job, after telling the plugins; without them where it is broken."""
    if len(service.applications.refresh()) == 1:
        raise Conflict("The only application cannot be deleted.")
    try:
        _take_leave(service, application)
    except Unusable as error:
        if error.fault in (DENIED, READONLY):  # it cannot be removed either
            raise
        log.warning("application %s is removed without telling the plugins: %s", application.id, error.message)
    unregister_application(service, application)


def _take_leave(service: Service, application: Application) -> None:
    call = service.call(application, None)
    with call.transaction() as db:
        if db.execute(select(tables.jobs.c.id).where(tables.jobs.c.status == "running").limit(1)).first():
            raise Conflict("A job of this application is running.")
        service.plugins.emit(hookspecs.application_changed, call, "removed", every=True)
