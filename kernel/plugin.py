"""One plugin: what is known of it and what it contributes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pluggy
from sqlalchemy import Table

from snaglist.kernel import hookspecs
from snaglist.kernel.endpoints import Endpoint
from snaglist.kernel.hookspecs import Description

T = TypeVar("T")
DISTRIBUTION = "snaglist"
BLOCKED = "blocked by plugins.disabled"


@dataclass(slots=True)
class Plugin:
    """One entry point and what it contributes; `error` is set when it could not be loaded."""

    id: str
    distribution: str
    description: Description
    module: Any = None
    hooks: dict[str, pluggy.HookImpl] = field(default_factory=dict)
    error: str | None = None
    failed_hook: str = "load"
    failed_at: str | None = None
    added: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)  # by collect hook: names, if any, and values

    def values(self, hook: Callable[[], Sequence[T]]) -> list[T]:
        """Return what it added by a collect hook."""
        return [value for _, value in self.added.get(hook.__name__, ())]

    @property
    def endpoints(self) -> list[Endpoint]:
        """Its endpoints."""
        return self.values(hookspecs.register_endpoints)

    @property
    def tables(self) -> list[Table]:
        """Its tables."""
        return self.values(hookspecs.register_tables)

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


def normal(name: str) -> str:
    """Return the name of a plugin or distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
