"""The sealed secrets of all areas: sealed anew with the first key, and those that no key opens.

Areas that keep secrets register `stored(call)` as `sealed`: it gives each, in the open transaction.
"""

from collections.abc import Iterator

from snaglist.kernel import Call, Unavailable
from snaglist.kernel.applications import Application
from snaglist.kernel.secrets import StoredSecret
from snaglist.kernel.service import Service

SEALED = "sealed"


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
    for stored in call.service.plugins.types(SEALED).values():
        yield from stored(call)


def _opens(service: Service, application: Application, one: StoredSecret) -> bool:
    try:
        service.secrets.open(application.id, one.field, one.sealed)
    except Unavailable:
        return False
    return True
