"""Removing an application, be its database in order or not."""

import logging

from sqlalchemy import select

from snaglist.kernel import Conflict, hookspecs, store
from snaglist.kernel.applications import Application
from snaglist.kernel.faults import DENIED, READONLY, Unusable
from snaglist.kernel.service import Service
from snaglist.plugins.system.registering import unregister_application

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
        if db.execute(select(store.jobs.c.id).where(store.jobs.c.status == "running").limit(1)).first():
            raise Conflict("A job of this application is running.")
        call.service.plugins.emit(hookspecs.application_changed, call, "removed", every=True)
