"""Pending schema steps of the registry and of all applications."""

from collections.abc import Iterable

from snaglist.kernel import Unavailable
from snaglist.kernel.faults import MISSING, Unusable
from snaglist.kernel.service import Service
from snaglist.kernel.steps import CORE, Step
from snaglist.plugins.system.sealed import reseal

Listed = list[dict[str, str | None]]
Failed = dict[str, Unavailable]  # by application


def upgrade(service: Service, failed: Failed | None = None) -> Listed:
    """Apply all pending steps; returns application (None = registry), owner and name of each.

    An application whose database cannot be used keeps no other from it: it is entered in `failed`, or raised.
    """
    applied = [one for name, step in service.applications.start() for one in _listed(name, [step])]
    for application in service.applications.all():
        try:
            service.applications.make_folders(application)
            applied += _listed(application.id, service.upgrade_registered(application))
            service.applications.forget_state(application)
            service.introduce(application)
            reseal(service, application)
        except Unavailable as error:
            if failed is None:
                raise
            failed[application.id] = error
    return applied


def pending_steps(service: Service, failed: Failed | None = None) -> Listed:
    """Return what `upgrade` would apply; a database that no step mends is entered in `failed`, or raised."""
    pending = _listed(None, service.registry_steps.state(service.applications.registry).pending)
    if pending:
        return pending
    for application in service.applications.all():
        try:
            state = service.applications.state(application)
            if not state.current and (state.fault or state.newer):
                service.require_schema(application)
            pending += _listed(application.id, state.pending)
        except Unavailable as error:
            if failed is None:
                raise
            failed[application.id] = error
    return pending


def _listed(application: str | None, steps: list[Step]) -> Listed:
    return [{"application": application, "owner": step.owner, "name": step.name} for step in steps]


def pending(service: Service, failed: Failed) -> list[dict[str, str | None]]:
    """Return the steps that an installation waits for; `failed` gets what keeps an application's from being known."""
    # An instance that was never used has nothing that is behind: the first start makes it current.
    applications = service.applications
    if applications.lost():
        raise Unusable(applications.registry, MISSING)
    if not service.database.exists(applications.registry):
        return []
    if not service.registry_steps.applied(applications.registry):
        return []
    return pending_steps(service, failed)


def unused(service: Service, owners: Iterable[str]) -> dict[str, str]:
    """Return those owners of schema steps that are not at work, each with what is the matter with its plugin."""
    working = {CORE, *(plugin.id for plugin in service.plugins.loaded())}
    return {owner: _matter(service, owner) for owner in sorted(set(owners) - working)}


def _matter(service: Service, owner: str) -> str:
    plugin = service.plugins.find(owner)
    return "is not installed" if plugin is None else f"failed: {plugin.error}"
