"""One plugin: what is known of it and what it contributes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pluggy
from sqlalchemy import Table

from snaglist.kernel.endpoints import Assets, Endpoint, Path
from snaglist.kernel.hookspecs import Description
from snaglist.kernel.jobs import Job
from snaglist.kernel.settings import Option
from snaglist.kernel.steps import Step

DISTRIBUTION = "snaglist"
BLOCKED = "blocked by plugins.disabled"


@dataclass(slots=True)
class Plugin:
    """One entry point and what it contributes; `error` is set when it could not be loaded."""

    id: str
    distribution: str
    description: Description
    hooks: dict[str, pluggy.HookImpl] = field(default_factory=dict)
    error: str | None = None
    failed_hook: str = "load"
    failed_at: str | None = None
    endpoints: list[Endpoint] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    parsers: list[Any] = field(default_factory=list)
    checks: list[tuple[str, Callable[[], bool]]] = field(default_factory=list)
    assets: list[Assets] = field(default_factory=list)

    @property
    def core(self) -> bool:
        """True for areas that cannot be switched off."""
        return self.description.core


def way_on(plugin: Plugin) -> str:
    """Return in words how to go on beside a plugin that failed; its data stays, whatever is done."""
    if plugin.core:
        return "it is a part of snaglist"
    if plugin.error == BLOCKED:
        return "taken out of there, it is back with its data"
    return f"all else goes on without it; mend it, uninstall it, or set SERVICE_DISABLED_PLUGINS={plugin.id}"
