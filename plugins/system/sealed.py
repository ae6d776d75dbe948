"""The sealed secrets of all areas: sealed anew with the first key, and those that no key opens.

Plugins that keep secrets give them by the hook `stored_secrets`.
"""

from snaglist.kernel import Application, Unavailable
from snaglist.kernel.service import Service
from snaglist.plugins.system.asking import ask_all
from snaglist.plugins.system.hookspecs import StoredSecret, stored_secrets


def reseal(service: Service, application: Application) -> None:
    """Seal the secrets of an application with the first key; what no key opens stays, and the log names it."""
    if service.plugins.calls(stored_secrets):
        call = service.call(application, None)
        with call.transaction():
            for one in list(ask_all(call, stored_secrets)):
                sealed = service.secrets.reseal(application.id, one.field, one.sealed)
                if sealed is not None:
                    one.replace(sealed)


def lost(service: Service, application: Application) -> list[str]:
    """Return what people know the secrets of an application by that no key opens."""
    call = service.call(application, None)
    with call.transaction(write=False):
        found = list(ask_all(call, stored_secrets))
    return [one.label for one in found if not _opens(service, application, one)]


def _opens(service: Service, application: Application, one: StoredSecret) -> bool:
    try:
        service.secrets.open(application.id, one.field, one.sealed)
    except Unavailable:
        return False
    return True
