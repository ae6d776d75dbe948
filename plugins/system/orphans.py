"""Tables that nobody uses now: those of plugins that are not installed, denied or failed."""

from collections.abc import Iterable

from snaglist.kernel.service import Service
from snaglist.kernel.steps import CORE


def unused(service: Service, owners: Iterable[str]) -> dict[str, str]:
    """Return those owners of schema steps that are not at work, each with what is the matter with its plugin."""
    working = {CORE, *(plugin.id for plugin in service.plugins.loaded())}
    return {owner: _matter(service, owner) for owner in sorted(set(owners) - working)}


def _matter(service: Service, owner: str) -> str:
    plugin = service.plugins.find(owner)
    return "is not installed" if plugin is None else f"failed: {plugin.error}"
