"""Applications come, get other names and go: their rows in the registry, databases and folders."""

import shutil
import threading

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Conflict, Invalid, NotFound, store, times
from snaglist.kernel.applications import Application, row, slug
from snaglist.kernel.service import Service

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
        try:
            service.upgrade_application(application)  # first: whoever finds it registered may use it
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
            db.execute(insert(registered), row(application, (last or 0) + 1))
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
    service.applications.refresh()
    service.applications.forget_state(application)
    service.database.drop(application)
    shutil.rmtree(application.folder, ignore_errors=True)
