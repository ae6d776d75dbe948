"""The sealed secrets of all areas: sealed anew with the first key, and those that no key opens.

Areas that keep secrets register `stored(call)` as `sealed`: it gives each, in the open transaction.
"""

import logging
from collections.abc import Callable, Iterable, Iterator

from snaglist.kernel import Call, Unavailable
from snaglist.kernel.applications import Application
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.engines import ends_transaction
from snaglist.kernel.installation import StoredSecret
from snaglist.kernel.service import Service

SEALED = "sealed"
log = logging.getLogger("snaglist")


def reseal(service: Service, application: Application) -> None:
    """Seal the secrets of an application with the first key; what no key opens stays, and the log names it."""
    if service.plugins.types(SEALED):
        call = service.call(application, None)
        with call.transaction():
            for one in list(_stored(call)):
                sealed = service.secrets.reseal(application.id, one.field, one.sealed)
                if sealed is not None:
                    one.replace(sealed)


def lost(service: Service, application: Application) -> list[str]:
    """Return what people know the secrets of an application by that no key opens."""
    call = service.call(application, None)
    with call.transaction(write=False):
        found = list(_stored(call))
    return [one.label for one in found if not _opens(service, application, one)]


def _stored(call: Call) -> Iterator[StoredSecret]:
    plugins = call.service.plugins
    for name, stored in plugins.types(SEALED).items():
        found: list[StoredSecret] = []
        try:
            with call.db.begin_nested():
                found = contained(_listed, stored, call)
        except Exception as error:
            plugin = plugins.find(plugins.owner(SEALED, name))
            if plugin is None or plugin.core or ends_transaction(error):
                raise
            log.exception("the secrets of plugin %s are not known", plugin.id)
            plugins.note(call, plugin, SEALED, describe(error))
        yield from found


def _listed(stored: Callable[[Call], Iterable[StoredSecret]], call: Call) -> list[StoredSecret]:
    return list(stored(call))


def _opens(service: Service, application: Application, one: StoredSecret) -> bool:
    try:
        service.secrets.open(application.id, one.field, one.sealed)
    except Unavailable:
        return False
    return True
