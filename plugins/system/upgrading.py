"""Pending schema steps of the registry and of all applications."""

from snaglist.kernel.service import Service
from snaglist.kernel.steps import Step
from snaglist.plugins.system.sealed import reseal

Listed = list[dict[str, str | None]]


def upgrade(service: Service) -> Listed:
    """Apply all pending steps; returns application (None = registry), owner and name of each."""
    applied = _listed(None, service.registry_steps.upgrade(service.applications.registry))
    for application in service.applications.ensure_first():
        applied += _listed(application.id, service.upgrade_application(application))
        service.applications.forget_state(application)
        service.introduce(application)
        reseal(service, application)
    return applied


def pending_steps(service: Service) -> Listed:
    """Return what `upgrade` would apply; raises WrongSchema for a database that no step mends."""
    pending = _listed(None, service.registry_steps.state(service.applications.registry).pending)
    if pending:
        return pending
    for application in service.applications.all():
        state = service.applications.state(application)
        if state.unlike:  # which no step mends
            service.require_schema(application)
        pending += _listed(application.id, state.pending)
    return pending


def _listed(application: str | None, steps: list[Step]) -> Listed:
    return [{"application": application, "owner": step.owner, "name": step.name} for step in steps]
