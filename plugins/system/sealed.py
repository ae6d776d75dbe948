"""The sealed secrets of all areas: sealed anew with the first key, and those that no key opens.

Plugins that keep secrets give them by the hook `stored_secrets`.
"""

import logging
from collections.abc import Callable, Iterable, Iterator

from snaglist.kernel import Application, Call, StoredSecret, Unavailable
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.database import ends_transaction
from snaglist.kernel.service import Service
from snaglist.plugins.system.hookspecs import stored_secrets

log = logging.getLogger("snaglist")


def reseal(service: Service, application: Application) -> None:
    """Seal the secrets of an application with the first key; what no key opens stays, and the log names it."""
    if service.plugins.calls(stored_secrets):
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
    for plugin, stored in plugins.calls(stored_secrets):
        found: list[StoredSecret] = []
        try:
            with call.db.begin_nested():
                found = contained(_listed, stored, call)
        except Exception as error:
            if plugin.core or ends_transaction(error):
                raise
            log.exception("the secrets of plugin %s are not known", plugin.id)
            plugins.note(call, plugin, stored_secrets.__name__, describe(error))
        yield from found


def _listed(stored: Callable[[Call], Iterable[StoredSecret]], call: Call) -> list[StoredSecret]:
    return list(stored(call))


def _opens(service: Service, application: Application, one: StoredSecret) -> bool:
    try:
        service.secrets.open(application.id, one.field, one.sealed)
    except Unavailable:
        return False
    return True
